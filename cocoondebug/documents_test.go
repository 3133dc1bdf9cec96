package cocoondebug

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// The handler serves the whole text of each document of a file, and the modes that operators set.
func TestDocuments(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	file := filepath.Join(t.TempDir(), "p.yaml")
	tasktest.Must(t, os.WriteFile(file, []byte(document), 0o600))
	tasktest.Must(t, rt.LoadPolicyFile(file))
	tasktest.Must(t, rt.Policy("shed").SetMode(cocoon.Off))
	_, page := served(t, rt, Options{})
	status, body := get(t, page+"documents")
	var all Documents
	tasktest.Must(t, json.Unmarshal([]byte(body), &all))
	if status != http.StatusOK || len(all.Documents) != 1 || all.Documents[0].File != file || all.Documents[0].Text != document {
		t.Fatalf("status %d: %+v", status, all)
	}
	if p := all.Documents[0].Policies; len(p) != 2 || p[0] != (DocumentPolicy{"shed", "off", false}) || p[1] != (DocumentPolicy{"planned", "observe", false}) {
		t.Errorf("the policies are %+v", p)
	}
}
