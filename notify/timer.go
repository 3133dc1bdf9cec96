package notify

import (
	"math"
	"runtime"
	"sync/atomic"
)

// Timer runs a handler at given times, punctually even while every P and every core is busy: one
// goroutine, locked to its thread, sleeps to absolute deadlines by the system call and goes through
// no run queue on its way back. Where that is not needed it can be told to sleep as other
// goroutines do, which takes no P along: see Relax.
//
// Where goroutines that do not block keep Ps busy, leave two more: asleep in its system call the
// thread goes on holding its P, and the network poller needs another. With one to share, a tick of
// 100 µs has sysmon take the P away and the thread ask for it back all the time, and connections
// wait meanwhile: a loopback echo took 0.2 ms at p50 and 3 ms at p99 instead of 0.05 and 0.2. A
// third brings nothing. On a virtual machine of two cores a tick of 100 µs costs a quarter of a
// core, one of 1 ms a thirtieth: set the timer to Never while there is nothing to watch.
//
// Two words are shared between the thread and those who call WakeAt: want, the earliest time at
// which the handler must run, and state, in which the thread says that it sleeps. The protocol:
//
//  1. WakeAt lowers want to its time, by compare-and-swap; want that is as early already ends it
//     here.
//  2. Then it reads state. asleep or parked: it swaps in awake, and the one who succeeds wakes the
//     thread, by the system call or by a channel. unstarted: the one who swaps in awake starts the
//     thread.
//  3. The thread, when it has nothing to do, stores how it will sleep, asleep or parked, and only
//     then reads want and relaxed. If that time has come it stores awake and goes to 5. If it is to
//     sleep in the other way it begins 3 anew.
//  4. Otherwise it sleeps until that time. asleep: on condition that state still is, for the system
//     compares and queues the thread in one step. parked: on a channel that keeps one waking, so
//     that none comes too early to be heard. Whatever ended the sleep, it stores awake and goes
//     back to 3.
//  5. It swaps Never for want, and only then runs the handler. What the handler returns lowers want
//     as in 1.
//
// No wish is lost. WakeAt writes want and then reads state; the thread writes state and then reads
// want. These are sequentially consistent, so at least one sees what the other wrote: either the
// thread sleeps no longer than the wish, or WakeAt sees asleep or parked and takes it away; then
// step 4 does not begin to sleep, or is woken. When WakeAt finds state changed before it could take
// it away, by the thread or by another, the thread has been awake since the wish was written, and
// reads want before it sleeps again. A wish that comes while the handler runs comes after the swap
// of 5, so the handler runs again for it. Waking in vain costs one turn of the loop; so does a
// waking that the channel has kept from an earlier sleep, that ended by itself. Relax is to relaxed
// what WakeAt is to want.
//
// Closing is a wish that nothing can be earlier than: want holds closed from then on, the thread
// ends when it reads it, and WakeAt returns at step 1.
type Timer struct {
	want    atomic.Int64
	state   atomic.Uint32
	relaxed atomic.Bool
	handle  func(now int64) (next int64)
	thread  sleeper
	park    sleeper
	ended   chan struct{} // closed when there is no thread and will be none
}

// Values of Timer.state.
const (
	unstarted uint32 = iota
	awake
	asleep // by thread
	over   // closed without having started
	parked // asleep by park
)

// closed is what want holds once the timer is closed: earlier than any time.
const closed = math.MinInt64

// NewTimer returns a timer that is not set. Its thread starts with the first WakeAt, so that an
// idle process has none; close it when done, or the thread stays.
//
// The handler runs on the timer's thread, one run at a time, and gets the time at which it was
// started. It returns the time of its next run, or Never: it is then run at that time or earlier,
// when WakeAt asks for that. A time that has passed means at once. The handler must not block, for
// everything else that is due waits meanwhile; it must not call Close. A panic in it ends the
// process, as in any goroutine.
func NewTimer(handle func(now int64) (next int64)) *Timer {
	if handle == nil {
		panic("notify: NewTimer of a nil handler; want the function to run")
	}
	return newTimer(handle, newSleeper())
}

func newTimer(handle func(now int64) (next int64), thread sleeper) *Timer {
	t := &Timer{handle: handle, thread: thread, park: newGoSleeper(), ended: make(chan struct{})}
	t.want.Store(Never)
	return t
}

// WakeAt has the handler run at the time at (of Now), or earlier. A time that has passed means as
// soon as possible. What the handler is to see must be published, by an atomic or a lock, before
// the call. After Close it does nothing.
//
// It is safe for concurrent use, and costs an atomic load when the timer is due by then anyway,
// else at most one system call that does not block (BenchmarkWakeAt).
func (t *Timer) WakeAt(at int64) {
	if t.lower(at) {
		t.rouse()
	}
}

// Relax tells the timer whether it may be as late as Go's own timers are: when every P is busy,
// until one becomes free, which is up to 10 ms and more. Its goroutine then parks as others do, and
// keeps no P from them; a thread that sleeps in a system call keeps one until the Go runtime takes
// it back, which on the only P stops the process for up to 10 ms. A timer is not relaxed at first.
//
// It is safe for concurrent use, and costs what WakeAt costs.
func (t *Timer) Relax(relaxed bool) {
	if t.relaxed.Swap(relaxed) != relaxed && t.state.Load() != unstarted {
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
	switch state := t.state.Load(); state {
	case asleep, parked, unstarted:
		if !t.state.CompareAndSwap(state, awake) {
			return
		}
		switch state {
		case asleep:
			t.thread.wake(&t.state)
		case parked:
			t.park.wake(&t.state)
		case unstarted:
			Outside(func() { go t.run() })
		}
	}
}

// Close stops the timer and returns when its thread has ended and the handler runs no more. It may
// be called again, and by several goroutines; each waits. Called from the handler, which it would
// wait for, it panics where it can tell (Linux), else it never returns.
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
	// Never unlocked: a goroutine that ends locked takes its thread, and what was set for it,
	// along.
	runtime.LockOSThread()
	t.thread.enter()
	defer t.thread.leave()
	defer t.park.leave()
	for {
		way, sleeper := asleep, t.thread
		if t.relaxed.Load() {
			way, sleeper = parked, t.park
		}
		t.state.Store(way)
		want := t.want.Load()
		now := Now()
		if want > now {
			if t.relaxed.Load() == (way == parked) {
				sleeper.sleep(&t.state, want, now)
			}
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
