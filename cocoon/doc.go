// Package cocoon schedules tasks cooperatively and lets small verified policies preempt them, at
// safe points only.
//
// A task is a function that holds a slot of a loop while it runs, on its caller's goroutine (Run)
// or on a goroutine of its own (Go). A loop has few slots, so tasks take turns; between safe points
// a task is not disturbed. A policy is an expression, checked, bounded and compiled to WebAssembly
// before it runs. The runtime evaluates it when time passes or an event happens, and its result is
// continue, throw or switch:
//
//	rt, err := cocoon.New(cocoon.Config{})
//	rt.RegisterSafeFunc("get")
//	rt.RegisterPreemptibleFunc("scan")
//	rt.RegisterDefaultPreemption(cocoon.OnEnqueue) // an arriving get preempts a running scan
//	rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "regex.match", Limit: 100 * time.Millisecond})
//
//	err = rt.Run(ctx, "scan", func(ctx context.Context) error {
//		for rows.Next() {
//			cocoon.SafePoint(ctx)
//			…
//		}
//		return nil
//	})
//
// A program built with cocoon build also polls in code that does not know Cocoon. In such a program
// the full name of a function, such as "github.com/dlclark/regexp2.(*Regexp).FindStringMatch", can
// be the Func of a TimeLimit, and every call of the function is a section. See docs/safepoints.md.
//
// The package-level functions use a default runtime. docs/design.md explains how the runtime works
// and why, and docs/policy.md specifies the language of policies.
package cocoon
