package cocoon

import (
	"log/slog"
	"runtime/debug"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// toBackground moves the arriving task, or else the task in question, to the background. A running
// task gives up its slot from its next safe point on, as any background task does, if another task
// waits that may run in its place. Called under the loop's lock.
func (l *Loop) toBackground(now int64) {
	if a := l.view.arriving; a != nil {
		l.core.SetBackground(&a.core)
		return
	}
	if s := l.view.task; s != nil {
		l.core.SetBackground(&s.core)
		l.askToSwitch(s, now)
	}
}

// act carries out one effect. Called under the loop's lock.
func (l *Loop) act(b *bound, s *site, operand uint64, now int64) {
	switch s.effect {
	case stubs.Call:
		s.fn.call(l.rt)
	case stubs.Interval:
		d := min(max(int64(operand), int64(lang.MinInterval)), int64(lang.MaxInterval))
		if d != int64(operand) {
			b.version.of.stats.clamped.Add(1)
		}
		was := b.interval.Swap(d)
		if d == was {
			return
		}
		if l.retime(); d < was { // the timer may sleep for as long as the old interval
			b.due = min(b.due, now+d)
			l.tickBy(b.due)
		}
	case stubs.Rank:
		l.core.SetRank(&l.view.arriving.core, int64(operand))
	case stubs.Background:
		l.toBackground(now)
	case stubs.Cancel:
		// Off at once. The rest needs a lock that must be taken before the loop's.
		if !b.version.off.Swap(true) {
			go l.rt.errands.withdraw(b.version)
		}
	}
}

// call runs the function on a goroutine of its own, so that the caller, which evaluates the policy
// and may be the timer's thread, does not wait.
func (f *safeFunc) call(rt *Runtime) {
	if !f.running.CompareAndSwap(false, true) {
		f.missed.Add(1)
		return
	}
	f.calls.Add(1)
	go func() {
		defer f.running.Store(false)
		defer func() {
			if r := recover(); r != nil {
				f.panics.Add(1)
				rt.log.add(slog.LevelError, "cocoon: safe function called by a policy panicked", "func", f.name, "panic", textOfPanic(r), "stack", string(debug.Stack()))
			}
		}()
		f.do(rt.ctx)
	}()
}
