package analyzer

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Policies that compare an arriving task with running ones, where no task may be suspended.
func TestNoRunningTaskIsSeen(t *testing.T) {
	const same = `arriving.labels.user == task.labels.user`
	warned := `on enqueue task.labels["user"] is about running tasks that may be suspended, and no document declares a task preemptible or both`
	refuse := on(stubs.Enqueue, same+` ? throw("x") : continue()`)
	off := refuse
	off.Mode = policy.Off
	for _, c := range []struct {
		name string
		spec policy.Spec
		kind string
		want string
	}{
		{"no kinds", refuse, "", warned},
		{"safe tasks", refuse, "safe", warned},
		{"preemptible tasks", refuse, "preemptible", ""},
		{"tasks of both kinds", refuse, "both", ""},
		{"off", off, "", ""},
		{"a switch", on(stubs.Enqueue, same+` ? continue() : switch()`), "", ""},
		{"about the arriving task", on(stubs.Enqueue, `arriving.labels.user == "a" ? throw("x") : continue()`), "", ""},
		{"on start", on(stubs.Start, `task.labels.user == "a" ? throw("x") : continue()`), "", ""},
	} {
		got := Unaccompanied(members(t, declared, c.spec), map[string]document.Class{"a": {Kind: c.kind}})
		if (c.want == "") != (len(got) == 0) || len(got) > 0 && !strings.Contains(got[0].Err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, got, c.want)
		}
	}
}
