package cocoon

import (
	"log/slog"
	"runtime/debug"
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// longCall is how long a call of a safe function may run before calls left out for it are logged.
const longCall = int64(time.Second)

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
		s.fn.call(l.rt, now)
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
func (f *safeFunc) call(rt *Runtime, now int64) {
	if !f.since.CompareAndSwap(0, now) {
		f.miss(rt, now)
		return
	}
	f.calls.Add(1)
	go func() {
		defer f.since.Store(0)
		returned := false
		defer func() {
			if !returned {
				f.failed(rt, recover())
			}
		}()
		f.do(rt.ctx)
		returned = true
	}()
}

// miss leaves out a call, because an earlier one has not returned. The runtime logs this if that
// call runs long: a function that never returns makes its policy useless.
func (f *safeFunc) miss(rt *Runtime, now int64) {
	missed := f.missed.Add(1)
	if since := f.since.Load(); since != 0 && now-since > longCall && f.missing.due(now) {
		rt.log.add(slog.LevelWarn, "cocoon: a policy calls a safe function whose last call has not returned; such calls are left out", "func", f.name, "for", time.Duration(now-since), "missed", missed)
	}
}

// failed logs a call that ended with a panic, or with Goexit. A function that always fails may be
// called at each tick, so it does not log each time.
func (f *safeFunc) failed(rt *Runtime, r any) {
	failures := f.failures.Add(1)
	if !f.failing.due(notify.Now()) {
		return
	}
	why := "runtime.Goexit"
	if r != nil {
		why = textOfPanic(r)
	}
	rt.log.add(slog.LevelError, "cocoon: safe function called by a policy panicked", "func", f.name, "panic", why, "times", failures, "stack", string(debug.Stack()))
}
