package cocoon

import (
	"runtime"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// SparePs is how many Ps the process has in addition to its busy slots while a runtime is hot: one
// for the network poller, and one that the timer's thread keeps while it sleeps. Without them a
// ready connection waits until a task ends or sysmon interrupts it, 10 ms later (bench: procs).
const SparePs = kernel.SparePs

const (
	// Whatever may change while a runtime is hot is looked at again after firstRenewal, when the
	// threads of the spare Ps have started, and then less and less often, up to lastRenewal.
	firstRenewal = int64(10 * time.Millisecond)
	lastRenewal  = int64(5 * time.Second)

	// fineTick is the interval of time policies below which Go's timers are not punctual enough.
	fineTick = int64(2 * time.Millisecond)
)

// needHeat records a need. It may be called under a loop's lock.
func (rt *Runtime) needHeat(now int64) {
	w := &rt.warmth
	hot := w.hot.Load()
	if hot && now-w.needed.Load() < int64(time.Millisecond) {
		return
	}
	w.needed.Store(now)
	switch {
	case hot:
	case w.noHelp(now):
		rt.timer.WakeAt(w.told.Load() + saturationEvery) // it may be saturated no longer
	default:
		rt.beginTemper()
	}
}

// beginTemper starts temper unless it is already about to run.
func (rt *Runtime) beginTemper() {
	if w := &rt.warmth; !w.busy.Load() && w.busy.CompareAndSwap(false, true) {
		go rt.temper()
	}
}

// ticksBy records a need if time policies must be evaluated soon at a fine interval, at the time
// next, and returns next. With a coarse interval, a late tick also makes the next one come soon.
// Called under the loop's lock by the timer.
func (l *Loop) ticksBy(now, next int64) int64 {
	w := &l.rt.warmth
	if next-now >= fineTick || w.hot.Load() && now-w.fine.Load() < minStay/4 {
		return next
	}
	for _, b := range l.hub.Listeners(uint16(stubs.Tick)) {
		if b.interval.Load() < fineTick && !b.silent() {
			w.fine.Store(now)
			l.rt.needHeat(now)
			break
		}
	}
	return next
}

// easeTimer tells the timer whether it must be punctual: while the runtime is hot and has time
// policies. Otherwise, or if there is no P for it, its thread must not keep a P while it sleeps,
// because sysmon takes the P back, and after each time keeps looking every 20 µs.
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
	next = rt.saturate(now)
	rt.easeTimer()
	w := &rt.warmth
	if !w.hot.Load() {
		return next
	}
	if at := w.next.Load(); now < at && !w.noHelp(now) {
		return min(next, at)
	}
	rt.beginTemper() // it sets the timer at its end
	return next
}

// noHelp reports whether heat would be no help, because the process is saturated. Policies with a
// fine clock get it nevertheless: otherwise they would be many ticks late.
func (w *warmth) noHelp(now int64) bool {
	return w.full.Load() && now-w.fine.Load() >= minStay
}

// saturated reports whether the process is saturated, and makes the timer find out as long as it is
// called now and then. It takes no lock.
func (rt *Runtime) saturated(now int64) bool {
	w := &rt.warmth
	if now-w.asked.Load() >= int64(time.Millisecond) {
		w.asked.Store(now)
		rt.timer.WakeAt(w.told.Load() + saturationEvery)
	}
	return w.knownFull(now)
}

// knownFull is saturated without a request to the timer.
func (w *warmth) knownFull(now int64) bool {
	return w.full.Load() && now-w.told.Load() < saturationSpan
}

// saturate finds out whether the process is saturated, while that matters: while the runtime is hot,
// and while it would be hot otherwise, or full was asked for. It returns when to look again. Called
// by the timer.
func (rt *Runtime) saturate(now int64) (next int64) {
	w, procs := &rt.warmth, int64(0)
	switch {
	case w.hot.Load():
		procs = w.own.Load()
	case now-w.asked.Load() < minStay/4, w.full.Load():
		procs = int64(runtime.GOMAXPROCS(0))
	default:
		return notify.Never // a need wakes the timer
	}
	if due := w.told.Load() + saturationEvery; now < due {
		return due
	}
	n, lasting, known := rt.cpu.goroutines(now)
	if !known {
		w.told.Store(notify.Never / 2) // so that nothing wakes the timer for it again
		return notify.Never
	}
	d := demand{wanting: n, lasting: lasting, procs: procs}
	for _, other := range *runtimes.Load() { // they share the Ps
		for _, l := range *other.loops.Load() {
			wanting, long := l.tasksDemand(now)
			if d.tasks += wanting; other == rt {
				d.long += long
			}
		}
	}
	w.told.Store(now)
	w.full.Store(rt.saturation.add(now, d))
	w.others.Store(rt.saturation.others())
	return now + saturationEvery
}

// temper brings the process into the state that heat demands. Called on a goroutine of its own.
func (rt *Runtime) temper() {
	w := &rt.warmth
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return // busy stays set, so that no other temper begins
	}
	w.busy.Store(false) // a need recorded from here on starts another temper
	now := notify.Now()
	w.heat.full = w.noHelp(now)
	if needed := w.needed.Load(); needed > w.heat.needed && w.heat.need(needed) {
		rt.warmUp(now)
	}
	cold, next := w.heat.cool(now)
	if cold {
		rt.coolDown()
		return
	}
	if !w.heat.hot { // the process has become saturated meanwhile
		return
	}
	if now >= w.renewed+w.pause {
		rt.renew(now)
	}
	next = min(next, w.renewed+w.pause)
	w.next.Store(next)
	rt.timer.WakeAt(next)
}

// warmUp prepares the process for tasks that run long. Called with warmth.mu held.
func (rt *Runtime) warmUp(now int64) {
	w := &rt.warmth
	rt.followProcs(now)
	if !rt.cfg.KeepProcs {
		kernel.AddProcs(w.slots)
	}
	w.own.Store(int64(kernel.OwnProcs()))
	w.room.Store(runtime.GOMAXPROCS(0) >= min(w.slots, int(w.own.Load()))+SparePs)
	w.slices = rt.cfg.Breath > 0 && kernel.AskSlices(sliceOf(rt.cfg.Breath))
	w.threads, w.renewed, w.pause = threadCount(), now, firstRenewal
	w.hot.Store(true)
	rt.easeTimer()
}

// coolDown undoes warmUp. Called with warmth.mu held.
func (rt *Runtime) coolDown() {
	w := &rt.warmth
	w.hot.Store(false)
	rt.easeTimer()
	if w.slices {
		kernel.DropSlices()
		w.slices = false
	}
	if !rt.cfg.KeepProcs {
		kernel.AddProcs(-w.slots)
	}
	rt.timer.WakeAt(0) // it may have looked before coolDown, and set itself accordingly
}

// renew checks what may have changed since the runtime became hot: the threads of the process and,
// at the last pause, its limits. Called with warmth.mu held.
func (rt *Runtime) renew(now int64) {
	w := &rt.warmth
	if n := threadCount(); w.slices && n != w.threads {
		w.threads = n
		kernel.RenewSlices()
	}
	if w.pause == lastRenewal && !rt.cfg.KeepProcs {
		kernel.RenewProcs()
	}
	rt.followProcs(now)
	w.own.Store(int64(kernel.OwnProcs()))
	w.renewed, w.pause = now, min(4*w.pause, lastRenewal)
}

// addSlots records that the runtime has n more slots.
func (rt *Runtime) addSlots(n int) {
	w := &rt.warmth
	w.mu.Lock()
	defer w.mu.Unlock()
	w.slots += n
	if w.hot.Load() && !rt.cfg.KeepProcs {
		kernel.AddProcs(n)
	}
}

// endHeat makes the runtime cold permanently.
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

// sliceOf returns the length of the slices requested from the kernel. On Linux 6.18 a thread that
// yields forfeits the rest of its slice, so a slice must end just after the breath that yields:
// with a busy process of the same control group, a task got 0.44 of a core with 1.25 to 1.6
// breaths, 0.37 with 1 and with 2, and 0.26 with 3. A breath lasts up to 1.25 times its length,
// because a task reads the clock four times in it.
func sliceOf(breath time.Duration) time.Duration { return breath + breath*3/10 }
