package notify

import (
	"math"
	"runtime"
	"sync/atomic"
)

// Timer runs a handler at given times, punctually even while every P and every core is busy: one goroutine, locked to
// its thread, sleeps to absolute deadlines by the system call and goes through no run queue on its way back.
//
// Where goroutines that do not block keep Ps busy, leave two more: asleep in its system call the thread goes on holding
// its P, and the network poller needs another. With one to share, a tick of 100 µs has sysmon take the P away and the
// thread ask for it back all the time, and connections wait meanwhile: a loopback echo took 0.2 ms at p50 and 3 ms at
// p99 instead of 0.05 and 0.2. A third brings nothing. On a virtual machine of two cores a tick of 100 µs costs a
// quarter of a core, one of 1 ms a thirtieth: set the timer to Never while there is nothing to watch.
//
// Two words are shared between the thread and those who call WakeAt: want, the earliest time at which the handler must
// run, and state, in which the thread says that it sleeps. The protocol:
//
//  1. WakeAt lowers want to its time, by compare-and-swap; want that is as early already ends it here.
//  2. Then it reads state. asleep: it swaps in awake, and the one who succeeds makes the system call that wakes the
//     thread. unstarted: the one who swaps in awake starts the thread.
//  3. The thread, when it has nothing to do, stores asleep, and only then reads want. If that time has come it stores
//     awake and goes to 5.
//  4. Otherwise it sleeps until that time, on condition that state is still asleep: the system compares and queues the
//     thread in one step. Whatever ended the sleep, it stores awake and goes back to 3.
//  5. It swaps Never for want, and only then runs the handler. What the handler returns lowers want as in 1.
//
// No wish is lost. WakeAt writes want and then reads state; the thread writes state and then reads want. These are
// sequentially consistent, so at least one sees what the other wrote: either the thread sleeps no longer than the wish,
// or WakeAt sees asleep and takes it away; then step 4 does not begin to sleep, or is woken. A wish that comes while the
// handler runs comes after the swap of 5, so the handler runs again for it. Waking in vain costs one turn of the loop.
//
// Closing is a wish that nothing can be earlier than: want holds closed from then on, the thread ends when it reads it,
// and WakeAt returns at step 1.
type Timer struct {
	want   atomic.Int64
	state  atomic.Uint32
	handle func(now int64) (next int64)
	thread sleeper
	ended  chan struct{} // closed when there is no thread and will be none
}

// Values of Timer.state.
const (
	unstarted uint32 = iota
	awake
	asleep
	over // closed without having started
)

// closed is what want holds once the timer is closed: earlier than any time.
const closed = math.MinInt64

// NewTimer returns a timer that is not set. Its thread starts with the first WakeAt, so that an idle process has none;
// close it when done, or the thread stays.
//
// The handler runs on the timer's thread, one run at a time, and gets the time at which it was started. It returns the
// time of its next run, or Never: it is then run at that time or earlier, when WakeAt asks for that. A time that has
// passed means at once. The handler must not block, for everything else that is due waits meanwhile; it must not call
// Close. A panic in it ends the process, as in any goroutine.
func NewTimer(handle func(now int64) (next int64)) *Timer {
	if handle == nil {
		panic("notify: NewTimer of a nil handler; want the function to run")
	}
	return newTimer(handle, newSleeper())
}

func newTimer(handle func(now int64) (next int64), thread sleeper) *Timer {
	t := &Timer{handle: handle, thread: thread, ended: make(chan struct{})}
	t.want.Store(Never)
	return t
}

// WakeAt has the handler run at the time at (of Now), or earlier. A time that has passed means as soon as possible. What
// the handler is to see must be published, by an atomic or a lock, before the call. After Close it does nothing.
//
// It is safe for concurrent use, and costs an atomic load when the timer is due by then anyway, else at most one system
// call that does not block (BenchmarkWakeAt).
func (t *Timer) WakeAt(at int64) {
	if t.lower(at) {
		t.rouse()
	}
}

// lower is step 1 of the protocol. It reports whether want was later than at.
func (t *Timer) lower(at int64) bool {
	at = max(at, closed+1) // however long past, a time does not close the timer
	for {
		w := t.want.Load()
		if w <= at {
			return false
		}
		if t.want.CompareAndSwap(w, at) {
			return true
		}
	}
}

// rouse is step 2.
func (t *Timer) rouse() {
	switch {
	case t.state.Load() == awake:
	case t.state.CompareAndSwap(asleep, awake):
		t.thread.wake(&t.state)
	case t.state.CompareAndSwap(unstarted, awake):
		Outside(func() { go t.run() })
	}
}

// Close stops the timer and returns when its thread has ended and the handler runs no more. It may be called again, and
// by several goroutines; each waits. Called from the handler, which it would wait for, it panics where it can tell
// (Linux), else it never returns.
func (t *Timer) Close() {
	if t.thread.onThread() {
		panic("notify: Close called from the timer's own handler, which it waits for; return Never from it, and close elsewhere")
	}
	t.want.Store(closed)
	if t.state.CompareAndSwap(unstarted, over) {
		close(t.ended)
	} else {
		t.rouse()
	}
	<-t.ended
}

// run is the thread: steps 3 to 5.
func (t *Timer) run() {
	defer close(t.ended)
	// Never unlocked: a goroutine that ends locked takes its thread, and what was set for it, along.
	runtime.LockOSThread()
	t.thread.enter()
	defer t.thread.leave()
	for {
		t.state.Store(asleep)
		want := t.want.Load()
		now := Now()
		if want > now {
			t.thread.sleep(&t.state, want, now)
			t.state.Store(awake)
			continue
		}
		t.state.Store(awake)
		if want == closed {
			return
		}
		// Failing means that want became even earlier; the next turn takes that.
		if t.want.CompareAndSwap(want, Never) {
			t.lower(t.handle(now))
		}
	}
}
