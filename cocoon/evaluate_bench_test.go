package cocoon

import "testing"

// BenchmarkEvaluate measures an evaluation all the way through the runtime, without and with
// effects on states.
func BenchmarkEvaluate(b *testing.B) {
	for _, c := range []struct{ name, expr string }{
		{"reads", `event.value > 2.0 and queue.length > 3 ? cancel() : continue()`},
		{"state", `state.n > 10 ? cancel() : continue()`},
		{"set", `set("n", state.n / 2)`},
		{"keyed", `add("spent", event.name, 1)`},
		{"take", `take("bucket", 1) ? continue() : cancel()`},
		{"sets", `set("n", state.n / 2); set("m", queue.length); set("k", 3)`},
	} {
		b.Run(c.name, func(b *testing.B) {
			rt := start(b, Config{Slots: 1})
			must(b, rt.RegisterState(map[string]any{"n": 0, "m": 0, "k": 0,
				"spent": Keyed{Keys: 10_000}, "bucket": Bucket{Rate: 1e12, Burst: 1e12}}))
			register(b, rt, Policy{Name: "p", On: OnNotify("n"), Expr: c.expr})
			for b.Loop() {
				rt.Notify("n", 1)
			}
		})
	}
}
