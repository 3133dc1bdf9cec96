package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// It takes strainTimes looks, strainGap apart, to show that a task runs. One look may find a task
// that waits unannounced in a moment between two waits. The next look may do the same, because the
// timer that looks and the timer that the task waits for may coincide.
const (
	strainGap   = int64(time.Millisecond)
	strainTimes = 3
)

// heatFor records a need if s, which has a slot or P that another task or goroutine waits for, has
// run for long. Called under the loop's lock.
func (rt *Runtime) heatFor(s *strand, now int64) {
	if now-s.core.Since() < heatAfter {
		return
	}
	st := &s.checked().strain
	if st.since != s.core.Since() {
		*st = strain{since: s.core.Since()}
	}
	if n := s.rests.get(); n != st.rests { // in Blocks, such as messages of a stream
		st.rests, st.times = n, 0
		return
	}
	leaves, known := goroutine.LeavesOf(s.g.Load())
	if st.note(s.status(), leaves, known, now) {
		rt.needHeat(now)
	}
}

// heatForRunning records a need if a task has run for long. Called by the timer, under the loop's
// lock, if a goroutine waits for a P: it may be no task, and no task may wait for a slot.
func (l *Loop) heatForRunning(now int64) {
	l.running(func(s *strand) bool {
		l.rt.heatFor(s, now)
		return true
	})
}

// note records what a look has found, and reports whether the task has run long. A task that is
// back from a wait and has no P yet has not run. A task that has lost its P has run: on one P, the
// timer that looks has taken the P. But it has not run since if the last look found it without a P,
// too, and leaves, which counts how often its goroutine has stopped running, is still the same.
func (st *strain) note(found goroutine.Status, leaves uint8, known bool, now int64) (long bool) {
	lacked := found == goroutine.Runnable && known
	still := lacked && st.lacked && leaves == st.leaves
	st.lacked, st.leaves = lacked, leaves
	switch {
	case found == goroutine.Waiting || found == goroutine.Syscall || found == goroutine.Ready:
		st.times = 0
		return false
	case still:
		return false
	}
	if now-st.last >= strainGap {
		st.last = now
		st.times++
	}
	return st.times >= strainTimes
}

// heatForHolders records a need if a task has held a slot for long while another task waits for
// one, and returns when to look again. Called under the loop's lock.
func (l *Loop) heatForHolders(now int64) (next int64) {
	if !l.core.Wanted() {
		return notify.Never
	}
	if w := &l.rt.warmth; (w.hot.Load() || w.noHelp(now)) && now-w.needed.Load() < minStay/4 {
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
