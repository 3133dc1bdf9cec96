package analyzer

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

func members(t *testing.T, states map[string]policy.State, specs ...policy.Spec) (all []Member) {
	t.Helper()
	for i, s := range specs {
		if s.Name == "" {
			s.Name = fmt.Sprint("p", i)
		}
		p, err := s.Parse(states, nil)
		if err != nil {
			t.Fatal(err)
		}
		v, err := Verify(p, LimitsOf(s))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, Member{s, v})
	}
	return all
}

func flows(m []Member) []Remark {
	return append(Together(m), Flows(m, Declared{States: declared})...)
}

func remarks(all []Remark) (texts []string) {
	for _, r := range all {
		text, _, _ := strings.Cut(r.Err.Error(), ";")
		texts = append(texts, fmt.Sprintf("%v: %s", r.Part, text))
	}
	return texts
}

var declared = statesOf(map[string]any{"n": 0, "f": 0.0, "d": time.Duration(0), "limit": 5, "bucket": policy.Bucket{Rate: 1, Burst: 5}, "k": policy.Keyed{First: 3, Keys: 5}})

func statesOf(first map[string]any) map[string]policy.State {
	states := map[string]policy.State{}
	for name, v := range first {
		states[name], _ = policy.StateOf(v)
	}
	return states
}

func TestTogether(t *testing.T) {
	spec := func(on stubs.Event, expr string) policy.Spec { return policy.Spec{On: policy.On(on), Expr: expr} }
	own := func(on stubs.Event, expr string) policy.Spec {
		return policy.Spec{On: policy.On(on), Expr: expr, State: map[string]any{"own": 0}}
	}
	fair, rank := policy.FairShare(), spec(stubs.Enqueue, `arriving.priority > 3 ? rank(-1) : continue()`)
	elsewhere := rank
	elsewhere.Match.Loops = []string{"bulk"}
	here := fair
	here.Match.Loops = []string{"default"}
	up, down := spec(stubs.Enqueue, `queue.length > 9 ? throw("x") : add("n", 1)`), spec(stubs.Exit, `queue.length > 9 ? add("n", -1) : add("n", -1)`)
	const drifts = `policy "p1": policy.expr:1:35: the state n goes up on enqueue and down on exit: a task that ends while it waits stays counted`
	const ranks = `policy.expr:1:25: the policy "order" ranks the same tasks: of two ranks of a task the last counts, and ranks compare as plain numbers`
	for _, c := range []struct {
		name  string
		specs []policy.Spec
		want  string
	}{
		{"order and rank", []policy.Spec{fair, rank}, `[policy "p1": ` + ranks + `]`},
		{"rank and order", []policy.Spec{rank, fair}, `[policy "p0": ` + ranks + `]`},
		{"on another loop", []policy.Spec{here, elsewhere}, "[]"},
		{"two ranks", []policy.Spec{rank, rank}, "[]"},
		{"a counter that drifts", []policy.Spec{up, down}, "[" + drifts + "]"},
		{"of floats", []policy.Spec{spec(stubs.Enqueue, `add("f", 1)`), spec(stubs.Exit, `add("f", -1)`)}, strings.NewReplacer(" n ", " f ", "1:35", "1:1").Replace("[" + drifts + "]")},
		{"a counter that comes back", []policy.Spec{up, spec(stubs.Ends, `add("n", -1)`)}, "[]"},
		{"by two policies", []policy.Spec{up, down, spec(stubs.Leave, `add("n", -1)`)}, "[]"},
		{"by set", []policy.Spec{spec(stubs.Enqueue, `let n = state.n; set("n", n + 1)`), spec(stubs.Exit, `set("n", max(state.n - 1, 0))`)},
			"[" + strings.Replace(drifts, "1:35", "1:1", 1) + "]"},
		{"by the cost", []policy.Spec{spec(stubs.Enqueue, `add("d", arriving.cost)`), spec(stubs.Exit, `add("d", -task.running)`)},
			"[" + strings.NewReplacer(" n ", " d ", "1:35", "1:1").Replace(drifts) + "]"},
		{"by set, and back", []policy.Spec{spec(stubs.Enqueue, `set("n", 1 + state.n)`), spec(stubs.Ends, `set("n", state.n - 1)`)}, "[]"},
		{"set to something else", []policy.Spec{spec(stubs.Enqueue, `set("n", queue.length + 1)`), spec(stubs.Exit, `set("n", state.n - 1)`)}, "[]"},
		{"on leave alone", []policy.Spec{up, spec(stubs.Leave, `add("n", -1)`)},
			`[policy "p1": policy.expr:1:1: the state n goes up on enqueue and down on leave: a task that ends while it has a slot stays counted]`},
		{"waiting tasks", []policy.Spec{up, spec(stubs.Start, `add("n", -1)`), spec(stubs.Leave, `add("n", -1)`)}, "[]"},
		{"waiting tasks that leave", []policy.Spec{up, spec(stubs.Start, `add("n", -1)`)},
			`[policy "p1": policy.expr:1:1: the state n goes up on enqueue and down on start: a task that ends while it waits stays counted]`},
		{"private states of one name", []policy.Spec{own(stubs.Enqueue, `add("own", 1)`), own(stubs.Exit, `add("own", -1)`)}, "[]"},
		{"a sum", []policy.Spec{spec(stubs.Enqueue, `add("n", 1)`), spec(stubs.Exit, `add("n", 1)`)}, "[]"},
		{"a number of running tasks", []policy.Spec{spec(stubs.Start, `add("n", 1)`), down}, "[]"},
	} {
		if got := fmt.Sprint(remarks(flows(members(t, declared, c.specs...)))); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestIdleStates(t *testing.T) {
	reads := policy.Spec{On: policy.On(stubs.Enqueue), Expr: `state.n > state.limit or state.bucket < 1 or state.k["a"] > 3 ? throw("x") : continue()`}
	writes := policy.Spec{On: policy.On(stubs.Exit), Expr: `add("k", task.name, 1); set("n", 1); add("own", state.own)`, State: map[string]any{"own": 1}}
	for _, c := range []struct {
		specs []policy.Spec
		want  string
	}{
		{nil, `[state "bucket": no policy reads or writes it state "d": no policy reads or writes it state "f": no policy reads or writes it state "k": no policy reads or writes it ` +
			`state "limit": no policy reads or writes it state "n": no policy reads or writes it]`},
		{[]policy.Spec{reads}, `[state "bucket": policies read it, and no policy writes it state "d": no policy reads or writes it state "f": no policy reads or writes it ` +
			`state "k": policies read it, and no policy writes it state "n": policies read it, and no policy writes it]`},
		{[]policy.Spec{reads, writes}, `[state "bucket": policies read it, and no policy writes it state "d": no policy reads or writes it state "f": no policy reads or writes it]`},
	} {
		if got := fmt.Sprint(remarks(Idle(members(t, declared, c.specs...), declared))); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}
