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
// task the call is a section of the task, named like Config.Name + "." + function; otherwise it is
// a task of that name. Limits and policies find it by that name.
//
// A throw unwinds the guest and its host functions with their deferred calls, and Call returns an
// error that wraps the *cocoon.PreemptedError; the instance is closed afterwards, unless
// Config.Reusable names the function. Other errors are a *FuelError, a *ClosedError, a trap, and a
// *sys.ExitError of wazero if the guest exits with another code than 0.
func (in *Instance) Call(ctx context.Context, function string, args ...uint64) (results []uint64, err error) {
	name := in.module.config.Name + "." + function
	l := in.module.config.Loop
	if inside.Here(ctx) && (l == nil || l == cocoon.TaskOf(ctx).Loop()) {
		return cocoon.Section(ctx, name, func() ([]uint64, error) {
			return in.run(&activation{Context: ctx, in: in, function: function}, args)
		})
	}
	err = in.loop(ctx).Run(ctx, name, func(ctx context.Context) (err error) {
		results, err = in.run(&activation{Context: ctx, in: in, function: function, owned: true}, args)
		return err
	})
	return results, err
}

// run makes a call inside a task.
func (in *Instance) run(a *activation, args []uint64) (results []uint64, err error) {
	a.g = goroutine.ID()
	if a.outer = activationOf(a.Context); a.outer != nil && a.account == nil {
		a.account = a.outer.account
	}
	if a.account == nil {
		a.account = new(account)
		a.account.set(&in.module.config, nil)
	}
	if !a.known {
		if err := in.join(a); err != nil {
			return nil, err
		}
		defer in.part(a)
	}
	fn, err := in.function(a, args)
	if err != nil {
		return nil, err
	}
	defer in.putBack(a, fn)
	if a.outer == nil {
		return a.call(fn, args)
	}
	a.outer.apart(func() { results, err = a.call(fn, args) })
	return results, err
}

// call runs the guest when it is its turn.
func (a *activation) call(fn api.Function, args []uint64) ([]uint64, error) {
	if err := a.enter(); err != nil {
		return nil, err
	}
	defer a.leave()
	if err := a.place(); err != nil {
		return nil, err
	}
	results, err := fn.Call(a, args...)
	return results, a.in.outcome(a, err)
}

// function returns the exported function, for the call alone.
func (in *Instance) function(a *activation, args []uint64) (api.Function, error) {
	def, ok := in.module.compiled.ExportedFunctions()[a.function]
	if !ok {
		return nil, fmt.Errorf("guest: %s exports no function %q", in.module.config.Name, a.function)
	}
	if n := len(def.ParamTypes()); n != len(args) {
		return nil, fmt.Errorf("guest: %s.%s takes %d parameters, and got %d", in.module.config.Name, a.function, n, len(args))
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if free := in.idle[a.function]; len(free) > 0 {
		in.idle[a.function] = free[:len(free)-1]
		return free[len(free)-1], nil
	}
	return in.api.ExportedFunction(a.function), nil
}

// putBack keeps the function for another call.
func (in *Instance) putBack(a *activation, fn api.Function) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.cause == nil {
		in.idle[a.function] = append(in.idle[a.function], fn)
	}
}

// outcome returns the error of a call that wazero has ended with err.
func (in *Instance) outcome(a *activation, err error) error {
	var (
		throw *cocoon.PreemptedError
		exit  *sys.ExitError
	)
	switch {
	case err == nil:
		return nil
	case a.stopped != nil:
		in.spoil(a, a.stopped)
		return a.named(a.stopped)
	case errors.As(err, &throw):
		in.spoil(a, throw)
	case errors.As(err, &exit):
		in.close(a.Context, fmt.Errorf("the guest exited with code %d", exit.ExitCode()))
		if exit.ExitCode() == 0 {
			return nil
		}
	}
	return a.named(err)
}

// named says which call ended with err.
func (a *activation) named(err error) error {
	return fmt.Errorf("guest: %s.%s: %w", a.in.module.config.Name, a.function, err)
}

// reason returns why the call ended with err: without wazero's account of the stack, if the host
// has stopped it.
func (a *activation) reason(err error) error {
	if a.stopped != nil {
		return a.stopped
	}
	return err
}

// spoil closes the instance after a function was stopped half-way, unless it may be.
func (in *Instance) spoil(a *activation, cause error) {
	if !slices.Contains(in.module.config.Reusable, a.function) {
		in.close(a.Context, fmt.Errorf("%s was stopped half-way: %w", a.function, cause))
	}
}
