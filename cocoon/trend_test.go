package cocoon

import (
	"fmt"
	"math"
	"testing"
	"time"
)

// rate and average follow a state that other policies write.
func TestTrendsOfStates(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": 0, "ms": 0.0, "rate": 0.0, "average": 0.0}))
	register(t, rt, Policy{Name: "count", On: OnNotify("n"), Expr: `set("ms", 1000.0); set("ms", event.value)`})
	register(t, rt, Policy{Name: "add", On: OnNotify("n"), Expr: `add("n", 10)`})
	register(t, rt, Policy{Name: "look", On: OnNotify("look"), Expr: `set("rate", rate("n", duration("1s"))); set("average", average("ms", duration("100h")))`})
	rt.Notify("look", 0)
	if rt.State("rate") != 0.0 || rt.State("average") != 0.0 {
		t.Errorf("at first %v, %v", rt.State("rate"), rt.State("average"))
	}
	for i := range 4 {
		rt.Notify("n", float64(i))
	}
	rt.Notify("look", 0)
	began := time.Now()
	if a, r := rt.State("average").(float64), rt.State("rate").(float64); math.Abs(a-1.5) > 0.01 || r <= 0 {
		t.Errorf("an average of %v, a rate of %v", a, r)
	}
	for time.Since(began) < 1100*time.Millisecond {
		time.Sleep(50 * time.Millisecond)
	}
	rt.Notify("look", 0)
	if r := rt.State("rate").(float64); r != 0 {
		t.Errorf("a second later a rate of %v", r)
	}
}

// A state that a document gives another first value begins anew, and so do its trends; one that
// stays has its past.
func TestTrendsOfReloadedStates(t *testing.T) {
	rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
	look := func(first int) (rate, average float64) {
		t.Helper()
		must(t, file.load(t, rt, fmt.Sprintf(`
states: {n: %d, rate: 0.0, average: 0.0}
policies:
  - {name: add, event: n, expr: 'add("n", 10)'}
  - {name: look, event: look, expr: 'set("rate", rate("n", duration("1h"))); set("average", average("n", duration("1h")))'}
`, first)))
		rt.Notify("look", 0)
		return rt.State("rate").(float64), rt.State("average").(float64)
	}
	look(0)
	for range 4 {
		rt.Notify("n", 0)
	}
	if r, a := look(0); r <= 0 || math.Abs(a-25) > 0.1 {
		t.Errorf("loaded again: a rate of %v, an average of %v", r, a)
	}
	if r, a := look(-1000); r != 0 || a != -1000 {
		t.Errorf("with another first value: a rate of %v, an average of %v", r, a)
	}
}

// In observe mode rates and averages follow the shadow of the state, which begins with the state's
// past. In other modes they do not.
func TestTrendsOfShadows(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"n": 0, "rate": 0.0, "average": 0.0, "flag": false}))
	register(t, rt, Policy{Name: "add", On: OnNotify("n"), Expr: `add("n", 10)`})
	register(t, rt, Policy{Name: "before", On: OnNotify("before"), Mode: Observe, Expr: `set("n", 0)`})
	rt.Notify("before", 0) // there is a shadow before there are trends
	look := Policy{Name: "look", On: OnNotify("look"), Expr: `set("rate", rate("n", duration("1h"))); set("average", average("n", duration("1h")))`}
	register(t, rt, look)
	dry := register(t, rt, Policy{Name: "dry", On: OnNotify("dry"), Mode: Observe, Expr: `
		set("n", -1000);
		rate("n", duration("1h")) < 0 and average("n", duration("1h")) < 0 ? set("flag", true) : continue()`})
	effects := func(raise string, want int64) {
		t.Helper()
		was := dry.Stats().WouldEffect
		if rt.Notify(raise, 0); dry.Stats().WouldEffect-was != want {
			t.Errorf("%s: %d effects, want %d: %+v", raise, dry.Stats().WouldEffect-was, want, dry.Stats())
		}
	}
	for range 4 {
		effects("n", 0)
	}
	effects("dry", 1) // from 0 to 40: nothing negative
	effects("dry", 2) // from 0 to -1000
	effects("look", 0)
	if r, a := rt.State("rate").(float64), rt.State("average").(float64); r <= 0 || math.Abs(a-25) > 0.1 {
		t.Errorf("the state itself has the rate %v and the average %v", r, a)
	}
	effects("n", 0) // an enforcing policy writes: the shadow ends
	effects("dry", 1)
}
