package guest

import (
	"context"
	"math"
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/inside"
)

// activation is one call of a guest's function. Only the goroutine of the call uses it, except for
// the fields whose comments name a lock.
type activation struct {
	*scope

	function *export
	params   [4]uint64   // of a function without results
	outer    *activation // the call of a guest that this one is nested in, on the same goroutine
	account  *account    // of the thread, or own; nested calls share it
	own      account
	brief    bool        // another call may use it after its end, if only this goroutine knows it
	known    bool        // join, not begin, put it among the instance's live calls
	at       int         // its index there; guarded by the instance's lock
	sp       uint64      // the guest's stack pointer, while another thread has the turn
	stack    stack       // what was allocated for it
	stopped  error       // why the guest was stopped, by means other than a throw
	halted   bool        // it was stopped half-way
	began    bool        // it runs or has run; guarded by the instance's lock
	gone     bool        // it has left its turn for good; guarded by the instance's lock
	evicted  bool        // it was to end because its instance closes; guarded by the instance's lock
	waits    inside.Call // a function of WASI that may wait is in progress
	slept    bool        // poll_oneoff has slept
	absent   bool        // it is away: without the turn
	depth    int         // calls of guests that it is nested in

	// a call of the instance that this one is nested in, and that has the turn for it
	kept     *activation
	ready    chan struct{} // gets a value with the turn; made under the instance's lock
	reserved bool          // it was queued for the turn before it asked
	waitsFor *Instance     // where it waits for its turn; guarded by the package's waits
	inner    *activation   // the call nested in this one; guarded by the package's waits
}

// scope is the context that the host functions of a call get, so that the host finds the call in
// one step. They may keep it after the end of the call.
type scope struct {
	context.Context // the task's

	in      *Instance
	g       uintptr
	current *activation // nil after its end; for its goroutine only
	owned   bool        // the task was made for this call
	ended   atomic.Bool
	ending  atomic.Pointer[ending]
}

// activate makes an activation for a call of the function.
func (in *Instance) activate(f *export, owned bool) *activation {
	x := &struct {
		activation
		scope scope
	}{}
	a := &x.activation
	a.scope, a.function = &x.scope, f
	x.scope.in, x.scope.current, x.scope.owned = in, a, owned
	return a
}

// used are activations that calls have used. Without them, an activation would be most of what a
// call allocates.
var used = sync.Pool{New: func() any { return new(activation) }}

// activateBriefly is activate for a call of which nothing is used after its end.
func (in *Instance) activateBriefly(f *export) *activation {
	a := used.Get().(*activation)
	a.scope, a.function, a.brief = &scope{in: in, current: a}, f, true
	return a
}

// over ends what the call leaves to the program.
func (a *activation) over() {
	a.current = nil
	a.ended.Store(true)
	a.end(nil)
}

// ending is a context that ends with a call that is a section of a task with more to do.
type ending struct {
	context.Context
	cancel context.CancelCauseFunc
}

type scopeKey struct{}

// Value implements context.Context.
func (s *scope) Value(key any) any {
	if key == (scopeKey{}) {
		return s
	}
	if e := s.ending.Load(); e != nil {
		return e.Value(key)
	}
	return s.Context.Value(key)
}

// Done implements context.Context. The channel is closed when the task's context ends, or the
// instance is closed, or the call ends.
func (s *scope) Done() <-chan struct{} {
	if s.owned {
		return s.Context.Done() // closing the instance cancels the task
	}
	e := s.ending.Load()
	if e == nil {
		e = new(ending)
		e.Context, e.cancel = context.WithCancelCause(s.Context)
		if !s.ending.CompareAndSwap(nil, e) {
			e.cancel(nil)
			e = s.ending.Load()
		}
		if err := s.in.refusal(); err != nil {
			e.cancel(err)
		}
		if s.ended.Load() { // otherwise the task's context would keep it
			e.cancel(nil)
		}
	}
	return e.Done()
}

// Err implements context.Context.
func (s *scope) Err() error {
	if e := s.ending.Load(); e != nil {
		return e.Context.Err()
	}
	return s.Context.Err()
}

// end ends the context of the call.
func (s *scope) end(cause error) {
	if e := s.ending.Load(); e != nil {
		e.cancel(cause)
	}
}

// activationOf returns the call of a guest that ctx belongs to, if the calling goroutine makes it.
func activationOf(ctx context.Context) *activation {
	s, ok := ctx.(*scope)
	if !ok {
		s, ok = ctx.Value(scopeKey{}).(*scope)
	}
	if !ok || s.g != goroutine.ID() {
		return nil
	}
	return s.current
}

// inside reports whether a is a call of the instance, or nested in one.
func (a *activation) inside(in *Instance) bool { return a.within(in) != nil }

// within returns the innermost call of the instance that a is, or is nested in.
func (a *activation) within(in *Instance) *activation {
	for ; a != nil; a = a.outer {
		if a.in == in {
			return a
		}
	}
	return nil
}

// cancel throws into the call's task, if it was made for the call. Another task may have more to do
// than this call: then only the call's context ends, and the call at its next safe point.
func (a *activation) cancel(cause error) {
	switch {
	case a.account.thread != nil:
		a.account.thread.Cancel()
	case a.owned:
		cocoon.TaskOf(a.Context).Cancel()
	default:
		a.end(cause)
	}
}

// stop unwinds the call.
func (a *activation) stop(err error) {
	a.stopped = err
	panic(err)
}

// charge adds the fuel that the guest has used since the last charge to the account of its thread.
func (a *activation) charge() {
	in := a.in
	if in.left == nil || in.module.config.Mechanism != Fuel {
		return
	}
	left := int64(in.left.Get())
	a.account.used.Add(in.given - left)
	a.chargeFrames(in.given - left)
	in.given = left
}

// cut takes from what the guest may use what calls in other instances, nested in a, have used of
// the slice, the budget and the frame. Nothing ran in the guest since charge.
func (a *activation) cut() {
	if in := a.in; in.left != nil && in.module.config.Mechanism == Fuel {
		in.given = in.frame.cut(a.account.cut(in.given))
		in.left.Set(uint64(in.given))
	}
}

// soon makes the guest look at its next safe point, because a function of the host may have taken
// long. With fuel it would look there only if the fuel ended, and what it has left is its own.
func (a *activation) soon() {
	if a.in.left != nil && a.in.module.config.Mechanism == Epoch {
		a.in.left.Set(nothing)
		a.in.pace.looksEarly()
	}
}

// nothing is the value of left when the guest must call the host at its next safe point.
const nothing = math.MaxUint64 // -1

// refill sets how far the guest runs until it looks again. That is its next safe point if the call
// should end or wait, or its slice is over: a guest that gives up its turn in a loop is refilled each
// time, and would never look.
func (a *activation) refill(over bool) {
	in := a.in
	if in.left == nil {
		return
	}
	in.given = in.pace.units
	if in.module.config.Mechanism == Fuel {
		in.given = in.frame.cut(a.account.cut(in.given))
	}
	if over || in.alert.Load() || a.Context.Err() != nil {
		in.given = -1
		in.pace.looksEarly()
	}
	in.left.Set(uint64(in.given))
}
