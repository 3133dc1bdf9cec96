package guest

import (
	"context"
	"errors"
	"fmt"

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
// *FuelError, a *ClosedError, a trap, and a *sys.ExitError of wazero if the guest exits with
// another code than 0, or before the function has returned the results that it has.
func (in *Instance) Call(ctx context.Context, function string, args ...uint64) (results []uint64, err error) {
	f, err := in.module.export(function, args)
	if err != nil {
		return nil, err
	}
	a := &activation{in: in, function: f}
	l := in.module.config.Loop
	if inside.Here(ctx) && (l == nil || l == cocoon.TaskOf(ctx).Loop()) {
		return cocoon.Section(ctx, f.task, func() ([]uint64, error) { return in.run(ctx, a, args) })
	}
	a.owned = true
	err = in.loop(ctx).Run(ctx, f.task, func(ctx context.Context) (err error) {
		results, err = in.run(ctx, a, args)
		return err
	})
	return results, err
}

// maxNested bounds how deep calls of guests and hosts are nested. Without it, a guest whose host
// functions call it back could overflow the goroutine's stack, which ends the process.
const maxNested = 1000

var errNested = fmt.Errorf("calls of guests are nested more than %d deep", maxNested)

// run makes a call inside the task of ctx.
func (in *Instance) run(ctx context.Context, a *activation, args []uint64) (results []uint64, err error) {
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
		if err := in.join(a); err != nil {
			return nil, err
		}
		defer in.part(a)
	}
	if a.outer == nil {
		return a.call(args)
	}
	a.nest()
	defer a.unnest()
	a.outer.keeper().apart(func() { results, err = a.call(args) })
	return results, err
}

// call runs the guest when it is its turn.
func (a *activation) call(args []uint64) ([]uint64, error) {
	defer a.end(nil)
	if below := a.outer.within(a.in); below != nil && !a.in.shares() {
		a.kept = below.keeper()
		below.charge()
		a.refill()
		defer a.charge()
		return a.invoke(args)
	}
	if err := a.enter(); err != nil {
		return nil, a.named(err)
	}
	defer a.leave()
	if err := a.place(); err != nil {
		return nil, err
	}
	return a.invoke(args)
}

// invoke runs the guest.
func (a *activation) invoke(args []uint64) ([]uint64, error) {
	fn := a.in.take(a.function)
	defer a.in.putBack(a.function, fn)
	if sp := a.in.sp; sp != nil {
		// When a call is stopped half-way, the guest does not give its stack frames back.
		was := sp.Get()
		defer func() {
			if a.halted {
				sp.Set(was)
			}
		}()
	}
	results, err := fn.Call(a, args...)
	if err != nil {
		err = a.outcome(err)
	}
	return results, err
}

// take returns the function's code for the call alone: a stack of its own belongs to it.
func (in *Instance) take(f *export) api.Function {
	in.mu.Lock()
	defer in.mu.Unlock()
	if free := in.idle[f]; len(free) > 0 {
		in.idle[f] = free[:len(free)-1]
		return free[len(free)-1]
	}
	return in.api.ExportedFunction(f.name)
}

// putBack keeps the function for another call.
func (in *Instance) putBack(f *export, fn api.Function) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.cause == nil {
		in.idle[f] = append(in.idle[f], fn)
	}
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
