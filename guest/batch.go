package guest

import (
	"context"
	"errors"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/safepoint"
	"github.com/tetratelabs/wazero/api"
)

// Batch calls fn, which may call an exported function many times with call, for example for each
// row of a table. A batch is one Call: one section or task, one turn in the instance, one budget.
// So each call costs little more than in wazero. stack holds the parameters, and afterwards the
// results, encoded as wazero encodes them; it must have room for both.
//
// fn has the turn, so between two calls it may use the instance's memory. call is a safe point: a
// throw there unwinds fn with its deferred calls, and other tasks go first when the slice is over.
// With Config.Threads, other threads may run in the instance at the same time. fn returns the
// errors of call, or continues after a trap. call must not be used on another goroutine, inside
// another call of a guest, inside Block of this package, or after fn has returned: it returns an
// error there.
func (in *Instance) Batch(ctx context.Context, function string, fn func(ctx context.Context, call func(stack []uint64) error) error) error {
	f, err := in.export(function)
	if err != nil {
		return err
	}
	j := job{many: fn}
	if !in.hosts(ctx) {
		_, err = in.callOutside(ctx, f, j)
		return err
	}
	_, err = cocoon.Section(ctx, f.task, func() ([]uint64, error) {
		return in.run(ctx, in.activate(f, false), j)
	})
	return err
}

var errMisplaced = errors.New("call of a Batch on another goroutine, inside another call, inside Block or after its end")

// callsUnseen is after how many calls the host looks, if the guest does not. A function without
// loops has no safe point.
const callsUnseen = 256

// batch runs the function of a Batch. The call has the turn.
func (a *activation) batch(fn api.Function, body func(context.Context, func([]uint64) error) error) error {
	runs, over := false, false
	defer func() { over = true }()
	n := 0
	return body(a.scope, func(stack []uint64) error {
		if a.g != goroutine.ID() || runs || over || a.absent || a.inner != nil {
			return a.named(errMisplaced)
		}
		n++
		if n%callsUnseen == 0 || a.asked() || a.in.alert.Load() || a.in.usedUp() {
			if err := a.lookBetween(); err != nil {
				return a.named(err)
			}
		}
		runs = true
		defer func() { runs = false }()
		err := a.invokeOn(fn, stack)
		a.stopped, a.halted = nil, false
		return err
	})
}

// asked reports whether the runtime asks something of the task. The word of package safepoint is
// raised while any task is asked, and a look at each call for the others' sake would take longer
// than the call.
func (a *activation) asked() bool { return safepoint.Raised() && inside.Asked(a.Context) }

// usedUp reports whether the guest would call the host at its next safe point.
func (in *Instance) usedUp() bool { return in.left != nil && int64(in.left.Get()) < 0 }

// lookBetween is look between two calls. Nothing is half-way in the guest then, so what would stop
// a guest is an error. A throw stays a throw. The error may be a throw, too, namely the cause of a
// context that has ended before its task noticed: only stop says which is which.
func (a *activation) lookBetween() (err error) {
	defer func() {
		if a.stopped != nil {
			recover()
			err, a.stopped = a.stopped, nil
		}
	}()
	a.in.pace.looksEarly()
	a.look()
	return nil
}
