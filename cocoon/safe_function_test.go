package cocoon

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
)

// Invariant 10: a safe function called by a policy may panic, or never end, without delaying any
// task.
func TestSafeFunctionsThatMisbehave(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	var calls, panics atomic.Int32
	ended := make(chan struct{})
	must(t, rt.RegisterSafeFunc(Func{Name: "panics", Do: func(context.Context) { panics.Add(1); panic("boom") }}))
	must(t, rt.RegisterSafeFunc(Func{Name: "endless", Do: func(ctx context.Context) { calls.Add(1); <-ctx.Done(); close(ended) }}))
	register(t, rt, Policy{Name: "p", On: OnStart, Expr: `call("panics"); call("endless")`})
	eventually(t, "a second panic", func() bool {
		must(t, rt.Run(background, "job", idle))
		return panics.Load() >= 2 && calls.Load() == 1
	})
	rt.log.flush()
	if log.count("boom") == 0 {
		t.Error("the panic is not logged")
	}
	if n := calls.Load(); n != 1 {
		t.Errorf("%d calls at once", n)
	}
	must(t, rt.Shutdown(background))
	receive(t, "the end of its context", ended)
}

// A safe function that ignores its context delays neither the policy that calls it, nor tasks, nor
// Shutdown.
func TestSafeFunctionThatNeverEnds(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	called, release, returned := make(chan struct{}), make(chan struct{}), make(chan struct{})
	must(t, rt.RegisterSafeFunc(Func{Name: "deaf", Do: func(context.Context) {
		close(called)
		<-release
		close(returned)
	}}))
	r := register(t, rt, Policy{Name: "p", On: OnStart, Expr: `call("deaf")`})
	for range 10 {
		must(t, rt.Run(background, "job", idle))
	}
	receive(t, "the call", called)
	if st := r.Stats(); st.Evaluations != 10 || st.Effects != 10 || rt.funcs["deaf"].calls.Load() != 1 || rt.funcs["deaf"].missed.Load() != 9 {
		t.Errorf("%+v, %d calls, %d missed", st, rt.funcs["deaf"].calls.Load(), rt.funcs["deaf"].missed.Load())
	}
	within(t, "Shutdown", func() { must(t, rt.Shutdown(background)) })
	close(release)
	receive(t, "the function", returned)
}

// A safe function that never returns, or that ends by Goexit, does not go unnoticed, and does not
// flood the log.
func TestSafeFunctionsThatFailAreLogged(t *testing.T) {
	var log journal
	rt := start(t, Config{Slots: 1, Logger: log.logger()})
	var exits atomic.Int32
	must(t, rt.RegisterSafeFunc(Func{Name: "exits", Do: func(context.Context) { exits.Add(1); runtime.Goexit() }}))
	must(t, rt.RegisterSafeFunc(Func{Name: "endless", Do: func(ctx context.Context) { <-ctx.Done() }}))
	register(t, rt, Policy{Name: "p", On: OnStart, Expr: `call("exits"); call("endless")`})
	must(t, rt.Run(background, "job", idle))
	eventually(t, "more calls", func() bool {
		must(t, rt.Run(background, "job", idle))
		return exits.Load() >= 20
	})
	rt.funcs["endless"].since.Add(-2 * longCall) // as if it had run that long
	for range 20 {
		must(t, rt.Run(background, "job", idle))
	}
	rt.log.flush()
	if n := log.count("panic=runtime.Goexit"); n != 1 {
		t.Errorf("%d lines about Goexit", n)
	}
	if n := log.count("has not returned"); n != 1 {
		t.Errorf("%d lines about the call that does not return", n)
	}
}
