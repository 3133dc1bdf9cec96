// Package cocoon schedules tasks cooperatively and lets small verified policies preempt them, at
// safe points only.
//
// A task is a function that runs on its caller's goroutine while it holds a slot of a loop (Run),
// or on a goroutine of its own (Go). A loop has few slots, so tasks take turns; between safe points
// they are left alone. A policy is an expression, checked, bounded and compiled to WebAssembly
// before it may run, that is evaluated when time passes or something happens and says continue,
// throw or switch:
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
// A program that is built by cocoon build polls in code that knows nothing of Cocoon, and the full
// name of a function, such as "github.com/dlclark/regexp2.(*Regexp).FindStringMatch", does as the
// Func of a TimeLimit: the function then is a section. docs/safepoints.md tells more.
//
// The package-level functions work on a default runtime. docs/design.md tells how it works and why,
// docs/policy.md specifies the policies' language.
package cocoon
