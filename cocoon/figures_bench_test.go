package cocoon

import "testing"

// BenchmarkRunMeasured measures what a Run pays for what policies read of it: beside a policy that
// only sees each task.
func BenchmarkRunMeasured(b *testing.B) {
	for _, c := range []struct{ name, reads string }{
		{"nothing", `arriving.priority > 1000000`},
		{"class", `class.busy > 1000000`},
		{"mean", `class.running_mean > duration("1000h")`},
		{"wait", `queue.wait(0.99) > duration("1000h")`},
		{"service", `class.service(0.99) > duration("1000h")`},
		{"rate", `loop.rate > 1e9`},
		{"cost", `queue.cost > duration("1000h")`},
		{"trend", `rate("n", duration("1m")) > 1e9 or average("n", duration("1m")) > 1e9`},
	} {
		b.Run(c.name, func(b *testing.B) {
			rt := start(b, Config{Slots: 2})
			must(b, rt.RegisterState(map[string]any{"n": 0}))
			register(b, rt, Policy{Name: "reads", On: OnEnqueue, Expr: c.reads + ` ? throw("x") : add("n", 1)`})
			b.ReportAllocs()
			for b.Loop() {
				must(b, rt.Run(background, "job", idle))
			}
		})
	}
}

// BenchmarkRunMeasuredTick measures what a Run pays for a policy that is not asked about it, but
// reads a quantile at times.
func BenchmarkRunMeasuredTick(b *testing.B) {
	for _, c := range []struct{ name, reads string }{
		{"nothing", `queue.length > 1000000`},
		{"wait", `queue.wait(0.99) > duration("1000h")`},
		{"service", `loop.service(0.99) > duration("1000h")`},
	} {
		b.Run(c.name, func(b *testing.B) {
			rt := start(b, Config{Slots: 2})
			must(b, rt.RegisterState(map[string]any{"slow": false}))
			register(b, rt, Policy{Name: "reads", On: OnNotify("look"), Expr: c.reads + ` ? set("slow", true) : continue()`})
			for b.Loop() {
				must(b, rt.Run(background, "job", idle))
			}
		})
	}
}
