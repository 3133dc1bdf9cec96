package cocoon

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// bothLoops runs n tasks, one after the other, on each of two loops at the same time.
func bothLoops(t *testing.T, rt *Runtime, n int) {
	t.Helper()
	var wg sync.WaitGroup
	for _, l := range *rt.loops.Load() {
		wg.Go(func() {
			for range n {
				if err := l.Run(background, "job", idle); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

// Counts by policies on several loops are complete, in whatever way the policies count.
func TestNoCountIsLost(t *testing.T) {
	for name, p := range map[string]Policy{
		"set":     {Expr: `set("n", state.n + 1)`},
		"add":     {Expr: `add("n", 1)`},
		"twice":   {Expr: `add("n", 3); add("n", -2)`},
		"private": {State: map[string]any{"mine": 0}, Expr: `set("mine", state.mine + 1); set("n", state.mine + 1)`},
		"max":     {State: map[string]any{"mine": 0}, Expr: `add("mine", 1); max("n", state.mine + 1)`},
		"min":     {State: map[string]any{"mine": 0}, Expr: `add("mine", 1); min("left", -1 - state.mine); set("n", state.mine + 1)`},
	} {
		t.Run(name, func(t *testing.T) {
			each := longtest.Count(20_000, 3_000)
			rt := start(t, Config{Slots: 1})
			must(t, rt.RegisterState(map[string]any{"n": 0, "left": 0}))
			p.Name, p.On = "count", OnExit
			register(t, rt, p)
			newLoopOf(t, rt, "second", 1)
			bothLoops(t, rt, each)
			if n := rt.State("n"); n != int64(2*each) {
				t.Errorf("%d tasks, counted %v", 2*each, n)
			}
			if left := rt.State("left"); name == "min" && left != int64(-2*each) {
				t.Errorf("the least is %v", left)
			}
		})
	}
}

// Evaluations on other loops see all writes of an evaluation, or none. Many writes lie between the
// two that are compared, so that without the lock of the steps a reader would come between them.
func TestWritesOfAStepAreSeenTogether(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	states := map[string]any{"a": 0, "b": 0, "torn": 0}
	between := ""
	for i := range 50 {
		name := fmt.Sprint("between", i)
		states[name] = 0
		between += fmt.Sprintf("add(%q, 1); ", name)
	}
	must(t, rt.RegisterState(states))
	newLoopOf(t, rt, "second", 1)
	register(t, rt, Policy{Name: "write", On: OnExit, Match: Match{Loops: []string{"default"}}, Expr: `set("a", state.a + 1); ` + between + `add("b", 1)`})
	register(t, rt, Policy{Name: "read", On: OnStart, Match: Match{Loops: []string{"second"}}, Expr: `state.a != state.b ? throw("torn") : continue()`})
	register(t, rt, Policy{Name: "note", On: OnExit, Match: Match{Loops: []string{"second"}}, Expr: `state.a != state.b ? set("torn", state.torn + 1) : continue()`})
	bothLoops(t, rt, longtest.Count(50_000, 20_000))
	if torn, throws := rt.State("torn"), rt.Stats().Policies["read"].Throws; torn != int64(0) || throws != 0 {
		t.Errorf("seen torn %v and %d times", torn, throws)
	}
}

// A second loop may be added while policies count on the first.
func TestSecondLoopComesWhileOthersCount(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": 0}))
	register(t, rt, Policy{Name: "count", On: OnExit, Expr: `add("n", 1)`})
	const each = 5000
	var wg sync.WaitGroup
	run := func(l *Loop) {
		wg.Go(func() {
			for range each {
				l.Run(background, "job", idle)
			}
		})
	}
	run(rt.Loop())
	for _, name := range []string{"second", "third"} {
		run(newLoopOf(t, rt, name, 1))
	}
	wg.Wait()
	if n := rt.State("n"); n != int64(3*each) {
		t.Errorf("%d tasks, counted %v", 3*each, n)
	}
}

// All reads of an evaluation precede its effects, and its effects on states apply in source order.
func TestOrderOfEffectsOnStates(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"i": 1, "f": 1.5, "d": time.Second, "seen": 0}))
	register(t, rt, Policy{Name: "p", On: OnNotify("go"), Expr: `
		set("i", 10); add("i", state.i); max("i", 5); add("i", 2); min("i", 12); set("seen", state.i);
		add("f", 0.25); max("f", 1.0); min("f", 1.625);
		add("d", duration("1s")); max("d", duration("3s"))`})
	rt.Notify("go", 0)
	if i, f, d, seen := rt.State("i"), rt.State("f"), rt.State("d"), rt.State("seen"); i != int64(12) || f != 1.625 || d != 3*time.Second || seen != int64(1) {
		t.Errorf("i %v, f %v, d %v, seen %v", i, f, d, seen)
	}
}

// If an effect of an evaluation cannot be carried out, the evaluation changes nothing, even if
// other effects could be. The same applies to an evaluation that sets NaN.
func TestStepIsWholeOrNothing(t *testing.T) {
	for name, c := range map[string]struct{ expr, want string }{
		"overflow": {`set("f", 2.0); add("n", 9223372036854775807)`, "integer overflow"},
		"NaN":      {`set("n", 2); set("f", event.value)`, "not a number"},
		"add NaN":  {`set("n", 2); add("f", event.value)`, "not a number"},
		"max NaN":  {`max("n", 2); max("f", event.value)`, "not a number"},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			must(t, rt.RegisterState(map[string]any{"n": 1, "f": 1.0}))
			r := register(t, rt, Policy{Name: "p", On: OnNotify("go"), Expr: c.expr})
			rt.Notify("go", math.NaN())
			st := r.Stats()
			if rt.State("n") != int64(1) || rt.State("f") != 1.0 || st.Errors != 1 || st.Effects != 0 || !strings.Contains(st.LastError, c.want) {
				t.Errorf("n %v, f %v, %+v", rt.State("n"), rt.State("f"), st)
			}
		})
	}
}

// As declared, a private state is shared by all loops, or each loop has its own.
func TestStateOfEachLoop(t *testing.T) {
	const text = `states: {refused: 0}
policies:
  - name: bucket
    on: enqueue
    state: {tokens: %, other: {first: 1, per: runtime}}
    expr: 'state.tokens < 1 ? throw("rate limit") : add("tokens", -1)'
`
	for declared, want := range map[string]int64{"5": 5, "{first: 5}": 5, "{first: 5, per: loop}": 10} {
		rt := start(t, Config{Slots: 1})
		load(t, rt, strings.ReplaceAll(text, "%", declared))
		second := newLoopOf(t, rt, "second", 1)
		passed := int64(0)
		for range 20 {
			for _, l := range []*Loop{rt.Loop(), second} {
				if l.Run(background, "job", idle) == nil {
					passed++
				}
			}
		}
		if passed != want {
			t.Errorf("tokens: %s let %d pass, want %d", declared, passed, want)
		}
	}
	rt := start(t, Config{Slots: 1})
	if err := rt.RegisterState(map[string]any{"n": PerLoop{First: 1}}); err == nil || !strings.Contains(err.Error(), "only a private state") {
		t.Error(err)
	}
	if err := rt.RegisterState(map[string]any{"n": math.NaN()}); err == nil || !strings.Contains(err.Error(), "finite") {
		t.Error(err)
	}
	if err := rt.LoadPolicies(strings.NewReader("version: 1\n" + strings.ReplaceAll(text, "%", "{first: 5, per: task}"))); err == nil || !strings.Contains(err.Error(), `a state is not per "task"`) {
		t.Error(err)
	}
}
