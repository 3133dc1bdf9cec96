package analyzer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
)

// Limits of functions that no throw unwinds.
func TestUnending(t *testing.T) {
	limit := func(f string) policy.Spec {
		s, err := policy.TimeLimit{Func: f, Limit: time.Second}.Spec()
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	tick := policy.Spec{On: policy.Every(time.Millisecond), Expr: `task.running > duration("1s") ? throw("x") : continue()`}
	for _, c := range []struct {
		name string
		spec policy.Spec
		kept string
		want bool
	}{
		{"its function", limit("example.com/app.Scan"), "example.com/app.Scan", true},
		{"its package", limit("regexp.(*Regexp).MatchString"), "regexp/...", true},
		{"all of its package", limit("example.com/app.*"), "example.com/app", true},
		{"all methods of its type", limit("a.(*T).M"), "a.(*T).*", true},
		{"another function", limit("example.com/app.Scan"), "example.com/app.Save", false},
		{"a function that it calls", limit("example.com/app.*"), "example.com/app.Save", false},
		{"a request", limit("GET /app"), "example.com/...", false},
		{"all tasks", limit("*"), "example.com/...", false},
		{"a section that a task must not end", in(policy.Observe, limit("a.F")), "a", false},
		{"a policy for the tasks", of(policy.Match{Tasks: []string{"a.F", "a.G"}}, tick), "a", true},
		{"a policy for other tasks, too", of(policy.Match{Tasks: []string{"a.F", "b.G"}}, tick), "a", false},
		{"a policy for all tasks", tick, "a", false},
	} {
		got := Unending(members(t, declared, c.spec), []document.Kept{{Name: c.kept}, {Name: "other"}})
		if c.want != (len(got) == 1) || c.want && !strings.Contains(fmt.Sprint(got[0].Err), c.kept) {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}
