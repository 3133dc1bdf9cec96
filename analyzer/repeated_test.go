package analyzer

import (
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// An effect that counts is warned about where one notification may carry it out several times, and
// nowhere else.
func TestWarnsOfRepeatedEffects(t *testing.T) {
	const count = `set("n", state.n + 1)`
	for _, c := range []struct {
		on      stubs.Event
		text    string
		because string // "": no warning
	}{
		{stubs.Enqueue, `state.n > 5 ? throw("full") : ` + count, ""},
		{stubs.Enqueue, `tenant.busy > 5 ? throw("full") : ` + count, ""},
		{stubs.Enqueue, `arriving.priority > 5 ? (` + count + `; rank(1)) : continue()`, ""},
		{stubs.Enqueue, `state.n > 5 ? switch() : ` + count, "it may switch"},
		{stubs.Enqueue, `task.priority > 5 ? throw("full") : ` + count, "it reads task.priority"},
		{stubs.Enqueue, `task.priority > 5 ? rank(1) : call("F")`, "it reads task.priority"},
		{stubs.Enqueue, `task.priority > 5 ? rank(1) : background()`, ""},
		{stubs.Tick, `queue.length > 5 ? ` + count + ` : continue()`, ""},
		{stubs.Tick, `queue.length > 5 ? throw("x") : ` + count, "it may throw"},
		{stubs.Tick, `tenant.busy > 5 ? ` + count + ` : continue()`, "it reads tenant.busy"},
		{stubs.Tick, `task.running > duration("1s") ? switch() : interval(duration("1s"))`, ""},
		{stubs.Tick, `task.running > duration("1s") ? (call("F"); switch()) : ` + count, "it reads task.running"},
		{stubs.Tick | stubs.Enqueue, `queue.length > 5 ? throw("x") : ` + count, "it may throw"},
		{stubs.Tick, `task.cancelled ? set("n", 1) : continue()`, ""},
		{stubs.Tick, `task.cancelled ? (` + count + `; call("F"); throw("x")) : continue()`, ""},
		{stubs.Tick, `task.cancelled ? (` + count + `; task.running > duration("1s") ? throw("x") : switch()) : continue()`, ""},
		{stubs.Tick, `task.cancelled ? (` + count + `; task.running > duration("1s") ? throw("x") : continue()) : continue()`, "it reads task.cancelled"},
		{stubs.Tick, `(task.cancelled ? add("n", 1) : call("F")); throw("x")`, ""},
		{stubs.Tick, `task.cancelled ? add("n", 1) : switch()`, "it reads task.cancelled"},
		{stubs.Tick, `task.cancelled ? max("n", 1) : switch()`, ""},
		{stubs.Tick, `task.cancelled ? set("n", 1) : set("n", 0)`, "it reads task.cancelled"},
		{stubs.Custom, `task.running > duration("1s") ? ` + count + ` : continue()`, "it reads task.running"},
		{stubs.Start | stubs.Exit, `task.running > duration("1s") ? ` + count + ` : continue()`, ""},
	} {
		p, err := lang.Parse(c.text, lang.Env{On: c.on, States: map[string]stubs.Type{"n": stubs.Int}, Funcs: map[string]bool{"F": true}})
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(p, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		var found []string
		for _, w := range v.Warnings() {
			if strings.Contains(w.Reason, "several times") {
				found = append(found, w.Reason)
			}
		}
		if c.because == "" && found != nil || c.because != "" && (len(found) != 1 || !strings.HasSuffix(found[0], c.because)) {
			t.Errorf("on %v %s: %q, want %q", c.on, c.text, found, c.because)
		}
	}
}
