package cocoon

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// warmth carries out what heat decides. Tasks and the timer see the needs, some under a loop's
// lock, and to change GOMAXPROCS stops the world. So they only note the need, and one goroutine at
// a time brings the process into the state that heat wants (temper).
type warmth struct {
	needed atomic.Int64 // when there was a need last
	busy   atomic.Bool  // temper runs, or is about to
	hot    atomic.Bool  // the process is as a hot runtime needs it
	next   atomic.Int64 // hot: when temper is due again
	room   atomic.Bool  // hot: there are Ps for the slots and the spares

	mu      sync.Mutex // serialises changes; guards what follows
	heat    heat
	slots   int   // of all loops
	ended   bool  // the runtime, which stays cold from then on
	renewed int64 // when temper looked last at what may change while the runtime is hot
	pause   int64 // until it looks again
	threads int   // how many there were when they were asked for short slices
	slices  bool  // they were
}

const (
	// What may change while a runtime is hot is looked at again after firstRenewal, when the
	// threads of the spare Ps have started, and more seldom up to lastRenewal.
	firstRenewal = int64(10 * time.Millisecond)
	lastRenewal  = int64(5 * time.Second)

	// fineTick is the interval of time policies below which Go's timers are not punctual enough.
	fineTick = int64(2 * time.Millisecond)
)

// needHeat notes a need. It may be called under a loop's lock.
func (rt *Runtime) needHeat(now int64) {
	w := &rt.warmth
	hot := w.hot.Load()
	if hot && now-w.needed.Load() < int64(time.Millisecond) {
		return
	}
	w.needed.Store(now)
	if !hot {
		rt.beginTemper()
	}
}

// beginTemper starts temper unless it is about to run anyway.
func (rt *Runtime) beginTemper() {
	if w := &rt.warmth; !w.busy.Load() && w.busy.CompareAndSwap(false, true) {
		go rt.temper()
	}
}

// ticksBy notes a need if time policies with a fine interval are to be evaluated soon, at the time
// next, and returns next. Of a coarse one a tick that comes late brings the next one near, too.
// Called under the loop's lock by the timer.
func (l *Loop) ticksBy(now, next int64) int64 {
	if next-now >= fineTick || l.rt.warmth.hot.Load() && now-l.rt.warmth.needed.Load() < minStay/4 {
		return next
	}
	for _, b := range l.hub.Listeners(uint16(stubs.Tick)) {
		if b.interval.Load() < fineTick && !b.silent() {
			l.rt.needHeat(now)
			break
		}
	}
	return next
}

// easeTimer tells the timer whether it must be punctual: while the runtime is hot and has time
// policies. Else, and where there is no P for it, its thread must not take one along into its
// sleep: sysmon takes it back, and goes on looking every 20 µs after each time it has done so.
func (rt *Runtime) easeTimer() {
	w := &rt.warmth
	rt.timer.Relax(!w.hot.Load() || !w.room.Load() || !rt.ticks())
}

// ticks reports whether the runtime has time policies.
func (rt *Runtime) ticks() bool {
	return slices.ContainsFunc(*rt.loops.Load(), func(l *Loop) bool { return l.wants(stubs.Tick) })
}

// keepHeat is called by the timer whenever it has run, and returns when it must run again.
func (rt *Runtime) keepHeat(now int64) (next int64) {
	rt.easeTimer()
	w := &rt.warmth
	if !w.hot.Load() {
		return notify.Never
	}
	if at := w.next.Load(); now < at {
		return at
	}
	rt.beginTemper() // it sets the timer at its end
	return notify.Never
}

// strain is what looks at a task that holds its slot for long have found.
type strain struct {
	since int64 // when the task got the slot
	last  int64 // when the last look that counts found it running
	times int   // how many in a row did
}

// It takes strainTimes looks, strainGap apart, to show that a task runs: one may find a task that
// waits unannounced in a moment between two waits, and the next one as well, for the timer that
// looks and the one that the task waits for may come at one time.
const (
	strainGap   = int64(time.Millisecond)
	strainTimes = 3
)

// heatFor notes a need if s, which holds a slot that another task waits for, has run for long.
// Called under the loop's lock.
func (rt *Runtime) heatFor(s *strand, now int64) {
	if now-s.core.Since() < heatAfter {
		return
	}
	st := &s.strain
	if st.since != s.core.Since() {
		*st = strain{since: s.core.Since()}
	}
	if st.look(goroutine.StatusOf(s.g.Load()), now) {
		rt.needHeat(now)
	}
}

// look notes what a look has found, and reports whether the task has run long. A task that is ready
// to run and has no processor does not run: it may be back from a wait just now.
func (st *strain) look(found goroutine.Status, now int64) (long bool) {
	switch found {
	case goroutine.Parked, goroutine.Syscall, goroutine.Runnable:
		st.times = 0
		return false
	}
	if now-st.last >= strainGap {
		st.last = now
		st.times++
	}
	return st.times >= strainTimes
}

// heatForHolders notes a need if a task has held a slot for long that another task waits for, and
// returns when to look again. Called under the loop's lock.
func (l *Loop) heatForHolders(now int64) (next int64) {
	if !l.core.Wanted() {
		return notify.Never
	}
	if w := &l.rt.warmth; w.hot.Load() && now-w.needed.Load() < minStay/4 {
		return w.needed.Load() + minStay/4
	}
	next = notify.Never
	for i := range l.slots {
		if s := l.slots[i].firm(); s != nil {
			l.rt.heatFor(s, now)
			next = min(next, max(now+strainGap, s.core.Since()+heatAfter))
		}
	}
	return next
}

// temper brings the process into the state that heat wants. Called on a goroutine of its own.
func (rt *Runtime) temper() {
	w := &rt.warmth
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return // and busy stays, so that no other begins
	}
	w.busy.Store(false) // a need that is noted from here on begins another temper
	now := notify.Now()
	if needed := w.needed.Load(); needed > w.heat.needed && w.heat.need(needed) {
		rt.warmUp(now)
	}
	cold, next := w.heat.cool(now)
	if cold {
		rt.coolDown()
		return
	}
	if now >= w.renewed+w.pause {
		rt.renew(now)
	}
	next = min(next, w.renewed+w.pause)
	w.next.Store(next)
	rt.timer.WakeAt(next)
}

// warmUp makes the process ready for tasks that run long. Called with warmth.mu held.
func (rt *Runtime) warmUp(now int64) {
	w := &rt.warmth
	rt.followProcs(now)
	if !rt.cfg.KeepProcs {
		addProcs(w.slots)
	}
	w.room.Store(runtime.GOMAXPROCS(0) >= min(w.slots, ownProcs())+SparePs)
	w.slices = rt.cfg.Breath > 0 && askSlices(sliceBreaths*rt.cfg.Breath)
	w.threads, w.renewed, w.pause = threadCount(), now, firstRenewal
	w.hot.Store(true)
	rt.easeTimer()
}

// coolDown takes back what warmUp did. Called with warmth.mu held.
func (rt *Runtime) coolDown() {
	w := &rt.warmth
	w.hot.Store(false)
	rt.easeTimer()
	if w.slices {
		dropSlices()
	}
	if !rt.cfg.KeepProcs {
		addProcs(-w.slots)
	}
	rt.timer.WakeAt(0) // it may have looked before, and told itself otherwise since
}

// renew looks at what may have changed since the runtime became hot: the threads of the process,
// and, at the last pause, its limits. Called with warmth.mu held.
func (rt *Runtime) renew(now int64) {
	w := &rt.warmth
	if n := threadCount(); w.slices && n != w.threads {
		w.threads = n
		renewSlices()
	}
	if w.pause == lastRenewal && !rt.cfg.KeepProcs {
		renewProcs()
	}
	rt.followProcs(now)
	w.renewed, w.pause = now, min(4*w.pause, lastRenewal)
}

// addSlots notes that the runtime has n more slots.
func (rt *Runtime) addSlots(n int) {
	w := &rt.warmth
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots += n
	if w.hot.Load() && !rt.cfg.KeepProcs {
		addProcs(n)
	}
}

// endHeat makes the runtime cold for good.
func (rt *Runtime) endHeat() {
	w := &rt.warmth
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ended = true
	if w.hot.Load() {
		rt.coolDown()
	}
}

// threadCount returns how many threads the Go runtime has.
func threadCount() int {
	n, _ := runtime.ThreadCreateProfile(nil)
	return n
}
