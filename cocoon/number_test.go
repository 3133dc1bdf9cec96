package cocoon

import (
	"context"
	"math"
	"testing"
	"time"
)

// A task without a deadline has the maximum time left, in every computation of a policy.
func TestNoDeadlineNeverOverflows(t *testing.T) {
	for _, expr := range []string{
		`task.deadline * 2 < task.waited ? throw("late") : continue()`,
		`task.deadline * 1000000 < duration("1h") ? throw("late") : continue()`,
		`task.deadline * 1e9 < duration("1h") ? throw("late") : continue()`,
		`task.deadline + task.deadline + task.deadline < duration("1h") ? throw("late") : continue()`,
		`-task.deadline - task.deadline - task.deadline > -duration("1h") ? throw("late") : continue()`,
		`task.elapsed - task.deadline * 3 > -duration("1h") ? throw("late") : continue()`,
		`task.deadline / 0.1 < duration("1h") ? throw("late") : continue()`,
		`set("least", task.deadline * 3); add("least", task.deadline)`,
	} {
		t.Run(expr, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			must(t, rt.RegisterState(map[string]any{"least": time.Duration(0)}))
			r := register(t, rt, Policy{Name: "late", On: OnStart, Expr: expr})
			for range 10 {
				must(t, rt.Run(background, "job", func(ctx context.Context) error { SafePoint(ctx); return nil }))
			}
			if st := r.Stats(); st.Errors != 0 || st.Off || st.Evaluations != 10 {
				t.Errorf("%+v", st)
			}
			if least := rt.State("least").(time.Duration); least != 0 && least < math.MaxInt64/2 {
				t.Errorf("the state is %v", least)
			}
		})
	}
}

// An average recovers from a NaN.
func TestNaNDoesNotStay(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"average": 0.0}))
	r := register(t, rt, Policy{Name: "average", On: OnNotify("latency"), Expr: `set("average", 0.5 * state.average + 0.5 * event.value)`})
	for _, x := range []float64{4, math.NaN(), 8} {
		rt.Notify("latency", x)
	}
	if st := r.Stats(); rt.State("average") != 5.0 || st.Errors != 1 || st.Off {
		t.Errorf("%v, %+v", rt.State("average"), st)
	}
}

// An interval out of bounds is counted.
func TestIntervalOutOfBoundsIsCounted(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"d": time.Duration(0)}))
	trigger := Every(time.Hour)
	trigger.Events = OnExit.Events
	r := register(t, rt, Policy{Name: "p", On: trigger, Expr: `set("d", state.d + duration("4us")); interval(state.d)`})
	for range 3 {
		must(t, rt.Run(background, "job", idle))
	}
	if st := r.Stats(); st.Clamped != 2 || st.Interval < 8*time.Microsecond { // 0, 4 and 8 µs; a tick may have come as well
		t.Errorf("%+v", st)
	}
}
