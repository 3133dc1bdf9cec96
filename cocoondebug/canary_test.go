package cocoondebug

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// The page and the JSON show a canary with its figures, the version of its policy, and the document
// that is in force.
func TestCanaryIsShown(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := tasktest.Start(t, cocoon.Config{QuietThrows: true})
	file := filepath.Join(t.TempDir(), "p<b>.yaml")
	load := func(text string) {
		tasktest.Must(t, os.WriteFile(file, []byte(text), 0o600))
		tasktest.Must(t, rt.LoadPolicyFile(file))
	}
	load(document)
	_, page := served(t, rt, Options{})
	if s := snapshot(t, page); s.Canaries == nil || len(s.Canaries) != 0 {
		t.Errorf("without a canary the snapshot has %+v", s.Canaries)
	}
	load(strings.Replace(document, "not now", "later", 1) + "canary: {share: 1, by: task.name}\n")
	for _, name := range []string{"unwanted", "wanted"} {
		_ = rt.Run(t.Context(), name, func(context.Context) error { return nil })
	}
	var c Canary
	tasktest.Eventually(t, "the canary", func() bool {
		if s := snapshot(t, page); len(s.Canaries) == 1 {
			c = s.Canaries[0]
		}
		return c.Cohort.Ended == 2
	})
	if c.Share != 1 || c.By != "task.name" || c.Throws != 1 || c.Cohort.Failed != 1 || c.Rest.Ended != 0 {
		t.Errorf("the canary is %+v", c)
	}
	status, body := get(t, page)
	if status != http.StatusOK || !strings.Contains(body, "p&lt;b&gt;.yaml: 100 % of the tasks, by task.name") || !strings.Contains(body, "shed@canary") {
		t.Errorf("status %d:\n%s", status, body)
	}
}
