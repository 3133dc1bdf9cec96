package guest

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/tetratelabs/wazero/api"
)

// Instance is an instantiated guest. Any number of tasks may call its functions: the calls run one
// after the other, or with Config.Threads in turns. All methods are safe for concurrent use.
type Instance struct {
	module *Module
	api    api.Module
	left   api.MutableGlobal // what the guest may use until it must call the host
	sp     api.MutableGlobal // the pointer of the stack in linear memory; nil: the guest has none

	// Owned by the call that has the turn.
	given int64 // the value of left when the guest last continued
	pace  pace
	idle  [][]api.Function // by export.index: functions that no call uses

	frame frame

	latest atomic.Pointer[export] // of the latest call: most calls are of the same function

	claim  atomic.Pointer[activation] // see alone.go
	mu     sync.Mutex                 // guards what follows; taken last, and no other code is called under it
	turns  turns[*activation]
	live   []*activation // each knows its index
	stacks stacks
	cause  error         // why the instance is closed, or closing
	rest   chan struct{} // closed when no thread is left; nil: RunFor does not wait
	done   bool

	alert   atomic.Bool   // the instance is closed or paused; written under the lock
	closing chan struct{} // closed with cause
	ended   chan struct{} // closed when the instance is closed and its last thread has ended
}

// Memory returns the guest's linear memory. A program may use it while no thread of the instance
// runs, and a host function until it blocks.
func (in *Instance) Memory() api.Memory { return in.api.Memory() }

// Module returns wazero's view of the instance. A call of one of its functions is not scheduled.
func (in *Instance) Module() api.Module { return in.api }

// loop returns the loop for a task that begins with ctx.
func (in *Instance) loop(ctx context.Context) *cocoon.Loop {
	if l := in.module.config.Loop; l != nil {
		return l
	}
	if t := cocoon.TaskOf(ctx); t != nil {
		return t.Loop()
	}
	return cocoon.Default().Loop()
}

// Pause stops the instance: each thread stops at its next safe point, and gives up its slot.
func (in *Instance) Pause() {
	in.lock()
	defer in.unlock()
	in.turns.paused = in.cause == nil
	in.alert.Store(true)
}

// Resume ends a pause.
func (in *Instance) Resume() {
	in.lock()
	in.turns.paused = false
	in.alert.Store(in.cause != nil)
	in.turns.grant().wake()
	in.unlock()
}

// RunFor runs the instance's threads for the duration d, or until all have ended, and pauses the
// instance. It returns the number of threads that have not ended. The thread that runs when the
// time is over stops at its next safe point, normally within 0.1 ms. If ctx ends first, RunFor
// pauses the instance at once and returns the cause.
func (in *Instance) RunFor(ctx context.Context, d time.Duration) (left int, err error) {
	end := time.NewTimer(d)
	defer end.Stop()
	return in.runUntil(ctx, end.C, nil)
}

// runUntil runs the threads until one of the channels has a value, ctx ends or no thread is left.
func (in *Instance) runUntil(ctx context.Context, end <-chan time.Time, used <-chan struct{}) (left int, err error) {
	in.Resume()
	defer in.Pause()
	err = Block(ctx, func() error {
		select {
		case <-in.allEnded():
			return nil
		case <-end:
			return nil
		case <-used:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	return in.threads(), err
}

// threads returns the number of threads that have not ended: of live calls that are not nested in
// others of the instance.
func (in *Instance) threads() (n int) {
	in.lock()
	defer in.unlock()
	for _, a := range in.live {
		if !a.gone && (a.known || !a.outer.inside(in)) {
			n++
		}
	}
	return n
}

// Shutdown closes the instance: it throws into its threads, wherever they are, waits until they
// have unwound, and frees the instance. If ctx ends first, Shutdown returns its cause, and the
// last thread frees the instance when it ends. Inside a call of the instance itself, Shutdown does
// not wait.
func (in *Instance) Shutdown(ctx context.Context) error {
	in.close(ctx, ErrShutdown, nil)
	if a := activationOf(ctx); a != nil && a.inside(in) {
		return nil
	}
	return await(ctx, in.ended)
}

// await waits for a channel to be closed. It keeps the slot if it need not wait, because a task
// that gives its slot up queues behind all waiting tasks.
func await(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	default:
	}
	return Block(ctx, func() error {
		select {
		case <-done:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// close closes the instance because of cause. by is the call that ended half-way, if one did: it
// ends with its own error.
func (in *Instance) close(ctx context.Context, cause error, by *activation) {
	in.lock()
	in.alert.Store(true) // before a thread that waits for closing looks
	if in.cause == nil {
		in.cause = cause
		close(in.closing)
	}
	live := make([]*activation, 0, len(in.live))
	for _, a := range in.live {
		if a != by {
			a.evicted = true
			live = append(live, a)
		}
	}
	in.turns.paused = false
	in.turns.grant().wake()
	last := in.last()
	in.unlock()
	for _, a := range live {
		a.cancel(cause)
	}
	if last {
		in.free(context.WithoutCancel(ctx))
	}
}

// join adds the call a to the instance's live calls, unless the instance is closed.
func (in *Instance) join(a *activation) error {
	in.lock()
	defer in.unlock()
	if err := in.refused(); err != nil {
		return err
	}
	a.known = true
	in.add(a)
	return nil
}

// add is join for an instance that is not closed. Called under the lock.
func (in *Instance) add(a *activation) {
	a.at = len(in.live)
	in.live = append(in.live, a)
}

// part forgets a call that has ended. The last one of a closed instance frees it.
func (in *Instance) part(a *activation) {
	in.lock()
	last := in.remove(a)
	in.unlock()
	if last {
		in.free(context.Background())
	}
}

// remove takes a call that has ended from the live ones, and reports whether the caller must free
// the instance. Called under the lock.
func (in *Instance) remove(a *activation) (last bool) {
	end := len(in.live) - 1
	moved := in.live[end]
	in.live[a.at], moved.at = moved, a.at
	in.live[end], in.live = nil, in.live[:end]
	in.putStack(a)
	if end == 0 {
		in.quiet()
	}
	return in.last()
}

// last reports whether the caller must free the instance now. It reports true once. Called under
// the lock.
func (in *Instance) last() bool {
	if in.cause == nil || len(in.live) > 0 || in.done {
		return false
	}
	in.done = true
	return true
}

// free closes wazero's instance, which no thread uses. There is none if its start has failed.
func (in *Instance) free(ctx context.Context) {
	if in.api != nil {
		in.api.Close(ctx)
	}
	in.idle = nil // they may be large, and the program may keep the instance
	in.module.remove(ctx, in)
	close(in.ended)
}

// allEnded returns a channel that is closed when no thread is left.
func (in *Instance) allEnded() <-chan struct{} {
	in.lock()
	defer in.unlock()
	if in.rest == nil {
		in.rest = make(chan struct{})
		if len(in.live) == 0 {
			defer in.quiet()
		}
	}
	return in.rest
}

// quiet tells RunFor that no thread is left. Called under the lock.
func (in *Instance) quiet() {
	if in.rest != nil {
		close(in.rest)
		in.rest = nil
	}
}

// refusal returns the error that calls get if the instance is closed, and nil if it is not.
func (in *Instance) refusal() error {
	in.lock()
	defer in.unlock()
	return in.refused()
}

// refused is refusal for callers that hold the lock.
func (in *Instance) refused() error {
	if in.cause == nil {
		return nil
	}
	return in.closed()
}

// closed returns the error of a call of the closed instance. Called under the lock.
func (in *Instance) closed() *ClosedError {
	return &ClosedError{Guest: in.module.config.Name, Cause: in.cause}
}
