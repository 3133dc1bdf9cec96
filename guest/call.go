package guest

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/sys"
)

// Call calls an exported function and returns its results, encoded as wazero encodes them. Inside a
// task the call is a section of the task, named Config.Name + "." + function; otherwise it is a
// task of that name. Limits and policies refer to this name.
//
// Call is a safe point at its beginning. A throw unwinds the guest and its host functions with
// their deferred calls, and Call returns an error that wraps the *cocoon.PreemptedError; the
// instance is closed afterwards, unless Config.Reusable names the function. Other errors are a
// *FuelError, a *ClosedError, a trap, and a *sys.ExitError of wazero. The latter means that the
// guest exited with a code other than 0, or that a function with results exited instead of
// returning them.
func (in *Instance) Call(ctx context.Context, function string, args ...uint64) (results []uint64, err error) {
	f, err := in.export(function)
	if err == nil {
		err = f.accepts(len(args))
	}
	if err != nil {
		return nil, err
	}
	if !in.hosts(ctx) {
		return in.callOutside(ctx, f, job{args: slices.Clone(args)})
	}
	return cocoon.Section(ctx, f.task, func() ([]uint64, error) {
		return in.run(ctx, in.activateBriefly(f), job{args: args})
	})
}

// hosts reports whether the caller runs in a task that a call of the instance may be a section of.
func (in *Instance) hosts(ctx context.Context) bool {
	l := in.module.config.Loop
	return inside.Here(ctx) && (l == nil || l == cocoon.TaskOf(ctx).Loop())
}

// callOutside makes a call as a task of its own. It is a function of its own because what it passes
// to the loop is allocated, and a call inside a task passes nothing.
func (in *Instance) callOutside(ctx context.Context, f *export, j job) (results []uint64, err error) {
	a := in.activate(f, true)
	err = in.loop(ctx).Run(ctx, f.task, func(ctx context.Context) (err error) {
		results, err = in.run(ctx, a, j)
		return err
	})
	return results, a.final(err)
}

// job is the work of a call in its turn.
type job struct {
	args []uint64
	many func(ctx context.Context, call func(stack []uint64) error) error // of Batch; nil: one call
}

// maxNested bounds how deep calls of guests and hosts are nested. Without it, a guest whose host
// functions call it back could overflow the goroutine's stack, which ends the process.
const maxNested = 1000

var errNested = fmt.Errorf("calls of guests are nested more than %d deep", maxNested)

// run makes a call inside the task of ctx.
func (in *Instance) run(ctx context.Context, a *activation, j job) (results []uint64, err error) {
	cocoon.SafePoint(ctx) // many short calls in a row may never look
	a.Context, a.g = ctx, goroutine.ID()
	if a.outer = activationOf(ctx); a.outer != nil {
		if a.depth = a.outer.depth + 1; a.depth > maxNested {
			return nil, a.named(errNested)
		}
		if a.account == nil {
			a.account = a.outer.account
		}
	}
	if a.account == nil {
		a.account = &a.own
		a.account.set(&in.module.config, nil)
	}
	if !a.known {
		ready, err := in.begin(a)
		if err != nil {
			return nil, err
		}
		if ready {
			defer in.finish(a)
			a.proceed()
			return a.invoke(j)
		}
		defer in.part(a)
	}
	if a.outer == nil {
		return a.call(j)
	}
	return a.callNested(j)
}

// callNested is call inside another call of a guest. It is a function of its own because a function
// with many deferred calls takes longer, and most calls are not nested.
func (a *activation) callNested(j job) (results []uint64, err error) {
	a.nest()
	defer a.unnest()
	defer func(was bool) { a.account.nested = was }(a.account.nested)
	a.account.nested = true
	if !a.outer.in.shares() { // otherwise it gives up the turn, or has done so
		a.outer.charge()
		defer a.outer.cut()
	}
	a.outer.keeper().apart(func() { results, err = a.call(j) })
	return results, err
}

// call runs the guest when it is its turn.
func (a *activation) call(j job) ([]uint64, error) {
	defer a.over()
	if below := a.outer.within(a.in); below != nil && !a.in.shares() {
		a.kept = below.keeper()
		below.charge()
		a.refill(false)
		defer a.charge()
		return a.invoke(j)
	}
	if err := a.enter(); err != nil {
		return nil, a.named(err)
	}
	defer a.quit()
	if err := a.place(); err != nil {
		return nil, err
	}
	return a.invoke(j)
}

// invoke runs the guest.
func (a *activation) invoke(j job) ([]uint64, error) {
	fn := a.in.take(a.function)
	defer a.in.putBack(a.function, fn)
	return a.perform(fn, j)
}

// perform does the job.
func (a *activation) perform(fn api.Function, j job) ([]uint64, error) {
	if j.many != nil {
		return nil, a.batch(fn, j.many)
	}
	var stack []uint64
	if f := a.function; f.results > 0 || f.params > len(a.params) {
		stack = make([]uint64, max(f.params, f.results))
	} else {
		stack = a.params[:f.params] // the program gets no results that it may keep
	}
	copy(stack, j.args)
	if err := a.invokeOn(fn, stack); err != nil {
		return nil, err
	}
	return stack[:a.function.results], nil
}

// invokeOn calls the function once. The stack holds the parameters, and then the results. When a
// call is stopped half-way, the guest does not give its own stack frames back, so the host does.
func (a *activation) invokeOn(fn api.Function, stack []uint64) error {
	var was uint64
	sp := a.in.sp
	if sp != nil {
		was = sp.Get()
	}
	err := fn.CallWithStack(a.scope, stack)
	if err == nil {
		return nil
	}
	err = a.outcome(err)
	if a.halted && sp != nil {
		sp.Set(was)
	}
	return err
}

// take returns the exported function for one call, which no other call uses at the same time: each
// value of type api.Function has one stack.
// The caller has the turn.
func (in *Instance) take(f *export) api.Function {
	free := in.idle[f.index]
	if n := len(free) - 1; n >= 0 {
		in.idle[f.index] = free[:n]
		return free[n]
	}
	return in.api.ExportedFunction(f.name)
}

// putBack keeps the function for another call. The caller has the turn.
func (in *Instance) putBack(f *export, fn api.Function) {
	in.idle[f.index] = append(in.idle[f.index], fn)
}

// outcome returns the error of a call that wazero has ended with err.
func (a *activation) outcome(err error) error {
	var (
		throw *cocoon.PreemptedError
		exit  *sys.ExitError
	)
	switch {
	case a.stopped != nil:
		a.spoil(a.stopped)
		err = a.stopped
	case errors.As(err, &throw):
		a.spoil(throw)
	case errors.As(err, &exit):
		a.in.close(a.Context, fmt.Errorf("the guest exited with code %d", exit.ExitCode()), a)
		if exit.ExitCode() == 0 && a.function.results == 0 {
			return nil
		}
	}
	return a.named(err)
}

// named says which call ended with err, unless err says so.
func (a *activation) named(err error) error {
	switch err.(type) {
	case *FuelError, *ClosedError:
		return err
	}
	return locate(a.function.task, err)
}

// reason returns why the call ended with err: without wazero's account of the stack, if the host
// has stopped it.
func (a *activation) reason(err error) error {
	if a.stopped != nil {
		return a.stopped
	}
	return err
}

// spoil closes the instance after the call was stopped half-way, unless it may be.
func (a *activation) spoil(cause error) {
	a.halted = true
	if !a.function.reusable {
		a.in.close(a.Context, &located{a.function.name + " was stopped half-way", cause}, a)
	}
}
