package notify

import (
	"math"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
)

// Timer runs a handler at given times, punctually even while every P and every core is busy: its
// goroutine, on a thread of its own, sleeps to absolute deadlines in a system call, and does not
// wait in a run queue afterwards. If such precision is not needed, Relax makes the timer sleep as
// other goroutines do, without a thread and without keeping a P.
//
// If goroutines that do not block keep Ps busy, provide two more Ps: the thread keeps its P while
// it sleeps in its system call, and the network poller needs another. If they share one P, then
// with a tick of 100 µs sysmon takes the P away and the thread asks for it back all the time, and
// connections wait during that time: a loopback echo took 0.2 ms at p50 and 3 ms at p99 instead of
// 0.05 and 0.2. A third P has no effect. On a virtual machine with two cores a tick of 100 µs costs
// a quarter of a core, and a tick of 1 ms a thirtieth: set the timer to Never while there is
// nothing to watch.
//
// The timer's goroutine and the callers of WakeAt share two words: want, the earliest time at which
// the handler must run, and state, in which the goroutine announces its sleep. The protocol:
//
//  1. WakeAt lowers want to its time, by compare-and-swap. If want is as early already, WakeAt
//     returns.
//  2. Then it reads state. If it is asleep or waiting, WakeAt swaps in awake, and the caller that
//     succeeds wakes the goroutine, by the system call or by a channel. If it is unstarted, the
//     caller that swaps in awake starts the goroutine.
//  3. The goroutine, when it has nothing to do, stores how it will sleep, asleep or waiting, and
//     only then reads want and relaxed. If that time has come, it stores awake and goes to 5. If
//     it must sleep in the other way, it stores awake, starts its successor, which begins with 3,
//     and ends: only the one that sleeps in the system call has a thread of its own. A timer that
//     has not been set for longIdle waits: the Go runtime would take the thread's sleep for work,
//     and not report that all goroutines of the program wait for each other.
//  4. Otherwise it sleeps until that time. An asleep thread sleeps only if state is still asleep,
//     because the system compares and queues the thread in one step. A waiting goroutine reads a
//     channel that keeps one wake-up, so that no wake-up is too early to be seen. When the sleep
//     ends for any reason, the goroutine stores awake and goes back to 3.
//  5. It swaps Never for want, and only then runs the handler. The handler's result lowers want as
//     in 1.
//
// No request is lost. WakeAt writes want and then reads state; the goroutine writes state and then
// reads want. These accesses are sequentially consistent, so at least one side sees what the other
// wrote. Either the thread sleeps no longer than the request allows, or WakeAt sees asleep or
// waiting and replaces it; then step 4 does not begin to sleep, or is woken. If the goroutine or
// another caller changes state before WakeAt can replace it, the goroutine has been awake since the
// request was written, and it or its successor reads want before it sleeps. A request made while
// the handler runs comes after the swap of 5, so the handler runs again for it. An unnecessary
// wake-up costs one turn of the loop; so does a wake-up that the channel has kept from an earlier
// sleep that ended by itself. Relax treats relaxed as WakeAt treats want.
//
// Closing is a request earlier than any other: want holds closed from then on, the goroutine ends
// when it reads it, and WakeAt returns at step 1.
type Timer struct {
	want    atomic.Int64
	state   atomic.Uint32
	relaxed atomic.Bool
	runner  atomic.Uintptr // the timer's goroutine; 0: none
	handle  func(now int64) (next int64)
	thread  sleeper
	channel sleeper
	ended   chan struct{} // closed when there is no goroutine and will be none
}

// Values of Timer.state.
const (
	unstarted uint32 = iota
	awake
	asleep  // sleeping by thread
	over    // closed without having started
	waiting // sleeping by channel
)

// longIdle is how long a timer that is not set keeps its thread.
const longIdle = int64(time.Second)

// closed is the value of want once the timer is closed: earlier than any time.
const closed = math.MinInt64

// NewTimer returns a timer that has not been set. Its goroutine starts with the first WakeAt, so
// that an idle process has none. Close the timer when done, or the goroutine stays.
//
// The handler runs on the timer's goroutine, one run at a time, and gets the time at which it was
// started. It returns the time of its next run, or Never: it then runs at that time, or earlier if
// WakeAt asks for that. A time in the past means at once. The handler must not block, because
// everything else waits until it returns, and must not call Close. A panic in it ends the process,
// as in any goroutine.
func NewTimer(handle func(now int64) (next int64)) *Timer {
	if handle == nil {
		panic("notify: NewTimer of a nil handler; want the function to run")
	}
	return newTimer(handle, newSleeper())
}

func newTimer(handle func(now int64) (next int64), thread sleeper) *Timer {
	t := &Timer{handle: handle, thread: thread, channel: newGoSleeper(), ended: make(chan struct{})}
	t.want.Store(Never)
	return t
}

// WakeAt makes the handler run at the time at (of Now), or earlier. A time in the past means as
// soon as possible. Data for the handler must be published, by an atomic or a lock, before the
// call. After Close, WakeAt does nothing.
//
// It is safe for concurrent use. It costs an atomic load if the timer is due by then anyway, or
// else at most one system call that does not block (BenchmarkWakeAt).
func (t *Timer) WakeAt(at int64) {
	if t.lower(at) {
		t.rouse()
	}
}

// Relax sets whether the timer may be as late as Go's own timers are: when every P is busy, until
// one becomes free, often 10 ms or more. Its goroutine then waits like any other, on any thread,
// and keeps no P busy. A thread that sleeps in a system call for less than 300 µs keeps a P until
// the Go runtime takes it back, which on the only P stops the process. A new timer is not relaxed.
//
// Relax is safe for concurrent use, and costs as much as WakeAt. A change starts a goroutine, and
// starts or ends a thread.
func (t *Timer) Relax(relaxed bool) {
	if t.relaxed.Swap(relaxed) != relaxed && t.state.Load() != unstarted {
		t.rouse()
	}
}

// lower is step 1 of the protocol. It reports whether want was later than at.
func (t *Timer) lower(at int64) bool {
	at = max(at, closed+1) // a time in the past must not close the timer
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
	case asleep, waiting, unstarted:
		if !t.state.CompareAndSwap(state, awake) {
			return
		}
		switch state {
		case asleep:
			t.thread.wake(&t.state)
		case waiting:
			t.channel.wake(&t.state)
		case unstarted:
			Outside(func() { go t.run(t.way(), 0) })
		}
	}
}

// Close stops the timer and returns when the handler no longer runs and never will. It may be
// called again, and by several goroutines; each call waits. If the handler calls Close, which would
// wait for the handler, Close panics.
func (t *Timer) Close() {
	if t.runner.Load() == goroutine.ID() {
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

// leave ends the sleeps of a goroutine that ends next. The timer forgets the goroutine's identity,
// because the Go runtime may give it to a goroutine that calls Close.
func (t *Timer) leave(sleeper sleeper) {
	t.runner.Store(0)
	sleeper.leave()
}

// way returns how the timer must sleep.
func (t *Timer) way() uint32 {
	if t.relaxed.Load() {
		return waiting
	}
	return asleep
}

// run is the timer's goroutine, which sleeps in the given way: steps 3 to 5. A goroutine that is
// locked to its thread costs two switches of threads each time it wakes, and passes its P on. So it
// is locked only while the timer must be punctual. unset is since when the timer has slept without
// running its handler; 0: it has run just now.
func (t *Timer) run(way uint32, unset int64) {
	t.runner.Store(goroutine.ID())
	sleeper := t.channel
	if way == asleep {
		sleeper = t.thread
	}
	sleeper.enter()
	for {
		t.state.Store(way)
		want := t.want.Load()
		now := Now()
		if want > now {
			if unset == 0 {
				unset = now
			}
			next, until := t.sleeps(want, unset, now)
			if next == way {
				sleeper.sleep(&t.state, until, now)
			}
			t.state.Store(awake)
			if next != way {
				t.leave(sleeper)
				go t.run(next, unset)
				return
			}
			continue
		}
		t.state.Store(awake)
		if want == closed {
			t.leave(sleeper)
			close(t.ended)
			return
		}
		// If this fails, want became even earlier; the next turn handles it.
		if t.want.CompareAndSwap(want, Never) {
			t.lower(t.handle(now))
		}
		unset = 0
	}
}

// sleeps returns how to sleep for want, and until when. unset is since when the timer has not been
// set if want is Never.
func (t *Timer) sleeps(want, unset, now int64) (way uint32, until int64) {
	way = t.way()
	switch {
	case want != Never || way == waiting:
		return way, want
	case now-unset >= longIdle:
		return waiting, Never
	}
	return asleep, unset + longIdle
}
