package guest

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Thread is a call of a guest's function that runs as a task of its own. All methods are safe for
// concurrent use.
type Thread struct {
	in      *Instance
	account account
	cancel  context.CancelCauseFunc
	task    atomic.Pointer[cocoon.Task]    // nil: it has not started
	spent   atomic.Pointer[cocoon.Account] // written before the task ends
	done    chan struct{}

	// Written before done is closed.
	results []uint64
	err     error
}

// Spawn starts a thread: a task that calls an exported function, on a goroutine of its own. The
// task's name is Config.Name + "." + function, and its attributes come from ctx. The thread
// waits for a slot of the loop and for its turn in the instance. If it cannot start, Wait returns
// the reason.
func (in *Instance) Spawn(ctx context.Context, function string, args ...uint64) *Thread {
	t := &Thread{in: in, done: make(chan struct{})}
	t.account.set(&in.module.config, t)
	ctx, t.cancel = context.WithCancelCause(ctx)
	a := in.activate(nil, true)
	a.account = &t.account
	if a.function, t.err = in.module.export(function); t.err == nil {
		t.err = a.function.accepts(len(args))
	}
	if t.err == nil {
		t.err = in.join(a)
	}
	if t.err != nil {
		t.cancel(nil)
		close(t.done)
		return t
	}
	if in.module.config.Deterministic {
		a.reserve() // in the order of the calls of Spawn
	}
	go t.run(ctx, in, a, args)
	return t
}

func (t *Thread) run(ctx context.Context, in *Instance, a *activation, args []uint64) {
	defer close(t.done)
	defer t.cancel(nil)
	t.err = cocoon.ErrGoexit
	defer in.part(a)
	defer a.cancelReserved() // it never began
	err := in.loop(ctx).Run(ctx, a.function.task, func(ctx context.Context) (err error) {
		task := cocoon.TaskOf(ctx)
		t.task.Store(task)
		defer func() { spent := task.Account(); t.spent.Store(&spent) }()
		t.results, err = in.run(ctx, a, job{args: args})
		return err
	})
	t.err = a.final(err)
}

// Done returns a channel that is closed when the thread has ended.
func (t *Thread) Done() <-chan struct{} { return t.done }

// Wait waits until the thread has ended, and returns what Call would return. If ctx ends first,
// Wait returns its cause. Inside a task, Wait gives the slot to other tasks while it waits, as
// Block does. Inside a call of the thread's own instance, Wait needs Config.Threads: otherwise the
// thread would begin only when this call has ended, and Wait returns an error.
func (t *Thread) Wait(ctx context.Context) ([]uint64, error) {
	if a := activationOf(ctx); a.inside(t.in) && !t.in.shares() {
		select {
		case <-t.done:
		default:
			return nil, fmt.Errorf("guest: Wait inside a call of the thread's own instance, which begins when that call has ended; see Config.Threads")
		}
	}
	if err := await(ctx, t.done); err != nil {
		return nil, err
	}
	return t.results, t.err
}

// Cancel throws into the thread: it ends at its next safe point, or at once if it waits.
func (t *Thread) Cancel() {
	if task := t.task.Load(); task != nil {
		task.Cancel()
	}
	t.cancel(cocoon.ErrCancelled)
}

// Account returns how the thread has spent its time so far, or until its end.
func (t *Thread) Account() (now cocoon.Account) {
	if task := t.task.Load(); task != nil {
		now = task.Account()
	}
	if spent := t.spent.Load(); spent != nil {
		return *spent // a task that has ended has no account
	}
	return now
}

// Task returns the thread's task, or nil if the thread has not started yet.
func (t *Thread) Task() *cocoon.Task { return t.task.Load() }

// SetSlice changes Config.Slice for the thread, from its next slice on. A positive value below the
// minimum means the minimum.
func (t *Thread) SetSlice(d time.Duration) {
	if d > 0 {
		d = max(d, leastSlice)
	}
	t.account.slice.Store(int64(sliceOf(d)))
}

// SetFuelSlice changes Config.FuelSlice for the thread, from its next slice on.
func (t *Thread) SetFuelSlice(n int64) { t.account.fuelSlice.Store(max(n, 0)) }

// AddFuel adds to the thread's budget. It has no effect on a thread without a budget. A negative n
// takes from the budget. If the budget is used up then, the thread ends when the guest next calls
// the host, which depends on the clock: so only additions keep the end at one instruction.
func (t *Thread) AddFuel(n int64) {
	for {
		was := t.account.budget.Load()
		if was == 0 {
			return
		}
		now := max(was+min(n, math.MaxInt64-was), 1) // 0 would be no bound
		if t.account.budget.CompareAndSwap(was, now) {
			return
		}
	}
}

// FuelUsed returns how much fuel the thread had used at the guest's last call of the host. A
// running guest calls it about every 25 µs. After a trap the count may lack the fuel of the last
// function.
func (t *Thread) FuelUsed() int64 { return t.account.used.Load() }
