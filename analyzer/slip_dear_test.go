package analyzer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
)

// Limits below the cost that the document declares.
func TestCostsAboveLimits(t *testing.T) {
	for _, c := range []struct {
		cost, limit time.Duration
		limited     string
		warned      bool
	}{
		{2 * time.Second, time.Second, "report", true},
		{time.Second, time.Second, "report", false},
		{0, time.Second, "report", false},
		{2 * time.Second, time.Second, "other", false},
		{2 * time.Second, time.Second, "rep*", false}, // the entry and the limit are about other tasks, too
	} {
		s, err := policy.TimeLimit{Func: c.limited, Limit: c.limit}.Spec()
		if err != nil {
			t.Fatal(err)
		}
		tasks := map[string]document.Class{"report": {Cost: c.cost}, "other": {}}
		got := fmt.Sprint(remarks(Mismatched(members(t, nil, s), tasks)))
		if warned := strings.Contains(got, `the tasks "report" are declared to take 2s, and this limit ends them after 1s`); warned != c.warned {
			t.Errorf("%+v: %s", c, got)
		}
	}
}
