package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// A time policy has ticks at a fixed interval. For each task it is evaluated only at ticks after
// its horizon (horizon.go), because before the horizon it could only continue. A policy without
// effects is also evaluated at the horizon itself, so that a limit is exact. A policy with effects
// is not, because it may count its evaluations.

// lookAgain is the longest time between two looks at a loop on which a task runs. So the values on
// which horizons are based, such as the deadline of a context that can move, are outdated for no
// longer than that.
const lookAgain = int64(time.Second)

// ticks looks at the time policies if they are due, and returns when they are due next. Called
// under the loop's lock.
func (l *Loop) ticks(now int64, cpu cpuSample) (next int64) {
	at := l.tickAt.Load()
	if at > now && (at == notify.Never || at <= now+lookAgain) {
		return at
	}
	l.tickAt.Store(notify.Never) // code that lowers it from here on wakes the timer again
	k := l.leads.Load()
	if k == nil {
		return notify.Never
	}
	l.gather()
	if k.ends {
		l.ticked.Store(notify.Now()) // now is earlier: a task may have begun to wait since
	}
	if cpu.early != nil && l.needsReading(k, now) {
		cpu = cpu.early.read(now, true)
	}
	sample := l.sampleRan(k, now, now-at, cpu)
	if cpu.crowded {
		l.heatForRunning(now)
	}
	if next = min(sample, l.ticksBy(now, l.evaluateTicks(now, k))); next != notify.Never {
		next = min(next, now+lookAgain)
	}
	l.tickBy(next)
	return next
}

// evaluateTicks evaluates the due time policies, and returns when the next one may be due. Called
// under the loop's lock, after gather.
func (l *Loop) evaluateTicks(now int64, k *leads) (next int64) {
	next = notify.Never
	quick, _ := l.quickEnded()
	busy := l.busy + quick
	n := 0
	for _, b := range l.hub.Listeners(uint16(stubs.Tick)) {
		if b.silent() {
			continue
		}
		n++
		if b.perTask {
			next = min(next, l.tick(b, busy, now))
		} else if b.takes(nil) {
			next = min(next, l.tickOfLoop(b, busy, now))
		}
		b.looked = now
	}
	if n != k.of {
		l.retime() // a policy was switched off
	}
	return next
}

// tick evaluates a time policy for the running tasks for which it is due, and returns when to look
// at the policy next.
//
// A policy that may act on any task at any time is scheduled once more after a tick if a task has
// run since the previous tick. Otherwise, on a busy server where no task happens to run at the
// moment of the tick, every next task would pay for the system call that wakes the timer.
func (l *Loop) tick(b *bound, busy, now int64) (next int64) {
	last, due := b.lastTick(now)
	again := due && b.usual && b.busy != busy
	first := int64(notify.Never) // the first horizon ahead
	l.running(func(s *strand) bool {
		if !b.watches(s) {
			return true
		}
		wait := b.wait(s, now)
		if wait > 0 {
			first = min(first, later(now, wait))
			return true
		}
		again = true
		if b.isTime(now+wait, last) {
			l.view.about(s, nil)
			l.evaluateTick(b, now-max(last, now+wait), now)
		}
		return true
	})
	if due {
		b.busy = busy
		b.proceed(last, now)
	}
	next = b.horizonTick(first, now)
	if again {
		next = min(next, b.due)
	}
	return next
}

// tickOfLoop is tick for a policy that reads no task. When the loop becomes idle, the policy is
// evaluated once more, so that it sees the idle loop, and then not until the next task arrives. If
// it reads the time of day, it is also evaluated when the minute changes; the timer checks that
// once a second.
func (l *Loop) tickOfLoop(b *bound, busy, now int64) (next int64) {
	last, due := b.lastTick(now)
	quiet := l.core.Idle() && len(l.absent.lent) == 0
	stirred := b.busy != busy
	b.sawQuiet = b.sawQuiet && quiet && !stirred && !(b.clocked && b.turned())
	wait := b.wait(nil, now)
	if wait <= 0 && !b.sawQuiet && b.isTime(now+wait, last) {
		l.view.about(nil, nil)
		l.evaluateTick(b, now-max(last, now+wait), now)
	}
	again := !quiet || stirred || !b.sawQuiet
	if due {
		again = !quiet || stirred
		b.busy, b.sawQuiet = busy, quiet
		b.proceed(last, now)
	}
	switch {
	case !again && b.clocked:
		return max(b.due, now+lookAgain)
	case !again:
		return notify.Never
	case wait > 0:
		return b.horizonTick(later(now, wait), now)
	}
	return b.due
}

// evaluateTick evaluates a time policy, late ns after it was due.
func (l *Loop) evaluateTick(b *bound, late, now int64) {
	b.late = late
	l.evaluate(b, now)
	b.late = 0
}

// lastTick returns the policy's last tick. due is false if the policy was looked at since then.
func (b *bound) lastTick(now int64) (at int64, due bool) {
	interval := b.interval.Load()
	if b.due > now+interval { // the interval was shortened, or the clock went back
		b.due, b.looked = now+interval, min(b.looked, now)
	}
	if now < b.due {
		return b.due - interval, false
	}
	return now - (now-b.due)%interval, true
}

// isTime reports whether the policy, which may act from the time since on, must be evaluated: either
// a tick has come after since and after the last look, or since is after the last look and the
// policy has no effects.
func (b *bound) isTime(since, last int64) bool {
	return last > b.looked && last >= since || b.prompt && since > b.looked
}

// proceed advances to the policy's next tick. Missed or skipped ticks are dropped.
func (b *bound) proceed(last, now int64) {
	interval := b.interval.Load() // the policy may have just changed it
	if b.due = last + interval; b.due <= now {
		b.due = now + interval
	}
}

// horizonTick returns when to look at the policy for a horizon in the future. A policy with effects
// is due at its first tick after the horizon; earlier ticks are skipped.
func (b *bound) horizonTick(at, now int64) int64 {
	interval, horizon := b.interval.Load(), at
	switch {
	case at == notify.Never:
		return at
	case b.stands && at < now+interval/4:
		at = now + interval/4
	case at < now+int64(lang.MinInterval): // a slow clock must not wake the timer continuously
		at = now + int64(lang.MinInterval)
	}
	if at > b.due && horizon <= b.due {
		return b.due // a tick before the end of that pause is not missed
	}
	if !b.prompt && at > b.due {
		return b.due + (at-b.due+interval-1)/interval*interval
	} else if !b.prompt {
		return b.due
	}
	return at
}
