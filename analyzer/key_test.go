package analyzer

import (
	"fmt"
	"testing"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// A constant key that is read, and that no policy writes, is most likely misspelt.
func TestUnwrittenKeys(t *testing.T) {
	spec := func(expr string) policy.Spec { return policy.Spec{On: policy.On(stubs.Exit), Expr: expr} }
	reads := spec(`state.k["glod"] > 3 ? cancel() : continue()`)
	states := map[string]policy.State{"k": declared["k"]}
	for _, c := range []struct {
		specs []policy.Spec
		want  string
		by    int
	}{
		{[]policy.Spec{reads, spec(`add("k", "gold", 1)`)}, `[policy "p0": policy.expr:1:1: no policy writes the key "glod" of the state k]`, 0},
		{[]policy.Spec{reads, spec(`add("k", "glod", 1)`)}, "[]", 0},
		{[]policy.Spec{reads, spec(`add("k", task.name, 1); add("k", task.labels.user, 1)`)}, "[]", 2},
		{[]policy.Spec{reads}, `[state "k": policies read it, and no policy writes it]`, 0},
		{[]policy.Spec{spec(`state.k[task.name] > 3 ? cancel() : add("k", "gold", 1)`)}, "[]", 0},
	} {
		all := members(t, states, c.specs...)
		if got := fmt.Sprint(remarks(Idle(all, states))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.specs[0].Expr, got, c.want)
		}
		by := 0
		for _, k := range KeyReads(all) {
			by += len(k.By)
		}
		if by != c.by {
			t.Errorf("%s: %d stubs may write the key; want %d", c.specs[0].Expr, by, c.by)
		}
	}
}

// A policy whose match names tasks of other kinds than are declared is about none of them.
func TestMismatchedKinds(t *testing.T) {
	tasks := map[string]document.Class{"A": {Kind: "atomic"}, "S": {Kind: "safe"}, "B": {Kind: "both"}, "W": {Kind: document.Waits}, "N": {}, "P*": {Kind: "atomic"}}
	throws, switches := `throw("x")`, `queue.length > 3 ? switch() : continue()`
	for _, c := range []struct {
		on          stubs.Event
		names       []string
		kinds       []string
		expr, about string // the tasks of the warnings
	}{
		{stubs.Start, []string{"A", "B"}, []string{"preemptible", "both"}, throws, `"A" are declared atomic, and match.kinds has other kinds only`},
		{stubs.Enqueue, []string{"S"}, []string{"preemptible"}, throws, `"S" are declared safe, and match.kinds`},
		// code may register them as preemptible
		{stubs.Start, []string{"S"}, []string{"both"}, throws, ""},
		{stubs.Start, []string{"A", "N", "W", "P*", "other"}, []string{"atomic"}, throws, ""},
		{stubs.Start, []string{"N", "W", "P*", "other"}, []string{"safe"}, throws, ""},
		{stubs.Start, []string{"A"}, nil, switches, `"A" are declared atomic, and switch() suspends`},
		{stubs.Start, []string{"S", "B"}, nil, switches, ""},
		{stubs.Enqueue, []string{"A"}, nil, switches, ""}, // the arriving task
	} {
		all := Mismatched(members(t, nil, policy.Spec{On: policy.On(c.on), Expr: c.expr, Match: policy.Match{Tasks: c.names, Kinds: c.kinds}}), tasks)
		got := ""
		if len(all) == 1 {
			got = all[0].Err.Error()
		}
		want := c.about
		if want != "" {
			want = "match: the tasks " + want
		}
		if len(all) > 1 || (got == "") != (want == "") || len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("%v of %v: %v\nwant %s", c.names, c.kinds, all, want)
		}
	}
}
