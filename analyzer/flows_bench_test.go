package analyzer

import (
	"fmt"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// BenchmarkFlows measures the warnings about a document of 100 policies: 20 routes, each with a
// limit, a count under keys, a level, and a rank.
func BenchmarkFlows(b *testing.B) {
	states := map[string]policy.State{}
	var specs []policy.Spec
	for i := range 20 {
		name := func(what string) string { return fmt.Sprint(what, i) }
		states[name("n")], _ = policy.StateOf(policy.Keyed{First: 0, Keys: 100})
		states[name("level")], _ = policy.StateOf(0)
		of := policy.Match{Tasks: []string{name("GET /a")}}
		specs = append(specs,
			policy.Spec{Name: name("shed"), On: policy.On(stubs.Enqueue), Match: of, Expr: fmt.Sprintf(`queue.length > %d and arriving.priority < 5 ? throw("full") : continue()`, i+10)},
			policy.Spec{Name: name("up"), On: policy.On(stubs.Enqueue), Match: of, Expr: fmt.Sprintf(`state.n%d[arriving.labels.user] >= 10 or state.level%d > 2 ? throw("x") : add("n%d", arriving.labels.user, 1)`, i, i, i)},
			policy.Spec{Name: name("down"), On: policy.On(stubs.Ends), Match: of, Expr: fmt.Sprintf(`add("n%d", task.labels.user, -1)`, i)},
			policy.Spec{Name: name("level"), On: policy.Every(time.Second), Expr: fmt.Sprintf(`queue.length > 50 ? set("level%d", min(state.level%d + 1, 5)) : set("level%d", 0)`, i, i, i)},
			policy.Spec{Name: name("rank"), On: policy.On(stubs.Enqueue), Match: of, Expr: `rank(-arriving.priority)`})
	}
	var all []Member
	for _, s := range specs {
		p, err := s.Parse(states, nil)
		if err != nil {
			b.Fatal(err)
		}
		v, err := Verify(p, LimitsOf(s))
		if err != nil {
			b.Fatal(err)
		}
		all = append(all, Member{s, v})
	}
	for b.Loop() {
		if got := Flows(all, Declared{States: states}); len(got) != 0 {
			b.Fatal(remarks(got))
		}
	}
}
