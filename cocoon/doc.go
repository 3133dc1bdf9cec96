// Package cocoon schedules tasks cooperatively and lets small verified policies preempt them, at
// safe points only.
//
// # Tasks
//
// A task is a function that holds a slot of a [Loop] while it runs, on its caller's goroutine
// ([Run]) or on a goroutine of its own ([Runtime.Go]). A loop has few slots, so tasks take turns.
// Between safe points a task is not disturbed. [SafePoint] marks a safe point, [Block] gives the
// slot to other tasks while a task waits, and [Section] limits a throw to a part of a task.
//
// # Policies
//
// A policy is an expression, checked, bounded and compiled to WebAssembly before it runs. The
// runtime evaluates it when time passes or an event happens, and its result is continue, throw
// (stop the task) or switch (suspend the task and let another one run). A [Runtime] gets its
// policies from a YAML document ([Runtime.LoadPolicyFile]) or from the program:
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
// A task is atomic unless it is declared otherwise: no policy suspends it, but a policy may stop
// it, and if nothing declares it, it takes turns with waiting tasks every [Config].StallAfter. A
// throw unwinds the task and its deferred calls, and the error of the task is a [*PreemptedError].
//
// # Code that does not know Cocoon
//
// A program built with cocoon build instead of go build also has safe points in the code of other
// modules and of the standard library. In such a program the full name of a function, such as
// "github.com/dlclark/regexp2.(*Regexp).FindStringMatch", can be the Func of a [TimeLimit], and
// every call of the function is a section. See docs/safepoints.md.
//
// # Servers
//
// Package cocoonhttp makes each request of a net/http server a task, package cocoonsql gives slots
// back during calls of a database, and package cocoongrpc makes each call of a gRPC server a task.
// docs/guide.md turns a server into a Cocoon server.
//
// # Further reading
//
// docs/policy.md specifies the language of policies, docs/cookbook.md has policies to start from,
// and docs/design.md explains how the runtime works and why. CONTRIBUTING.md says where to read
// what in the code. The package-level functions use a default runtime, see [Default].
package cocoon
