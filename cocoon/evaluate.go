package cocoon

import (
	"math"
	"math/bits"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// evaluate evaluates a policy on the loop's view, carries out the result, and reports whether a
// task will be thrown into or switched at once. An evaluation that fails changes nothing and counts
// as continue (invariant 7). Called under the loop's lock. It costs about 40 ns in addition to the
// cost of the effects (bench: eval).
func (l *Loop) evaluate(b *bound, now int64) (acted bool) {
	v, r := b.version, b.version.of
	mode := b.mode()
	if mode == Off || v.off.Load() || mode == Observe && v.ended.Load() {
		return false
	}
	l.view.fill(l, b.reads, b.eval.Snapshot(), now)
	for _, at := range b.chances {
		b.eval.Snapshot()[at] = math.Float64bits(b.draws.Next())
	}
	r.stats.evaluations.Add(1)
	locked := b.states.some && b.states.begin(&l.rt.steps, b.eval.Snapshot(), mode == Observe, now)
	out, err := b.eval.Eval()
	if writes := out.Fired & b.states.writing; writes != 0 {
		if err = b.states.carryOut(writes, out.Values, b.eval.Snapshot(), mode == Observe, now); err != nil {
			out = stubs.Outcome{}
		}
	}
	if locked {
		l.rt.steps.mu.Unlock()
	}
	if err != nil {
		v.failed(err)
		return false
	}
	if v.failures.Load() != 0 {
		v.failures.Store(0)
	}
	if mode == Observe {
		return l.observe(b, out, now)
	}
	if out.Fired != 0 {
		r.stats.effects.Add(int64(bits.OnesCount64(out.Fired)))
	}
	for fired := out.Fired &^ b.states.writing; fired != 0; fired &= fired - 1 { // step has carried out the rest
		i := bits.TrailingZeros64(fired)
		l.act(b, &b.sites[i], out.Values[i], now)
	}
	switch out.Decision {
	case stubs.Throw:
		l.throwVerdict(b, out, now)
		return true
	case stubs.Switch:
		return l.switchVerdict(b, now)
	}
	return false
}

// switchVerdict asks the task to be suspended, if another task can run in its place. A task that
// runs undisturbed for a while, because it was passed over too long, is asked after that time.
func (l *Loop) switchVerdict(b *bound, now int64) (atOnce bool) {
	s := l.view.task
	if s == nil {
		return false
	}
	at, asked := l.askToSwitch(s, now)
	if asked {
		b.version.of.stats.switches.Add(1)
	}
	return at <= now
}

// askToSwitch asks s to be suspended, unless it is asked already, from the time at on: Never when
// there is no task to run in its place. Called under the loop's lock.
func (l *Loop) askToSwitch(s *strand, now int64) (at int64, asked bool) {
	at, ok := l.core.SwitchAt(&s.core, now)
	if !ok {
		return notify.Never, false
	}
	if s.requests.Load()&wantSwitch == 0 {
		s.post(wantSwitch, now)
		asked = true
	}
	return at, asked
}

// toBackground makes the arriving task, or else the task in question, one of the background. One
// that runs goes on from its next safe point on as others of the background do: where a task waits
// that may run in its place, it makes room. Called under the loop's lock.
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

// maxRetry is the longest time after which a policy has callers retry. The time left to a deadline
// that there is none of is 146 years.
const maxRetry = 24 * time.Hour

// throwVerdict refuses the arriving task, or posts the throw to the task, which unwinds at its next
// safe point (answerThrow).
func (l *Loop) throwVerdict(b *bound, out stubs.Outcome, now int64) {
	text := b.version.verified.Program().Reasons[out.Reason]
	retry := min(time.Duration(max(0, out.Retry)), maxRetry)
	if a := l.view.arriving; a != nil {
		b.version.of.stats.refusals.Add(1)
		a.tenant.threw()
		err := a.preempted(b.version.of.name, text, "", nil, now)
		err.Started, err.RetryAfter = false, retry
		b.version.of.tellThrow(err, func() string { return "on arrival" })
		if a.core.State() == sched.Queued {
			a.withdraw(err, now)
		} else {
			a.withdrawn = err // it has a slot, which its own goroutine gives back
		}
		return
	}
	s := l.view.task
	if s == nil {
		return
	}
	section, id := "", uint64(0)
	if open := l.view.sections(); len(open) > 0 {
		section, id = open[len(open)-1].name.text, open[len(open)-1].id
	}
	if s.pending == nil {
		b.version.of.stats.throws.Add(1)
		s.tenant.threw()
		err := s.preempted(b.version.of.name, text, section, nil, now)
		err.RetryAfter = retry
		s.postThrow(err, id, now)
		s.pending.by, s.pending.force = b.version.of, b.version.spec.Force
	}
}

// act carries out one effect. Called under the loop's lock.
func (l *Loop) act(b *bound, s *site, operand uint64, now int64) {
	switch s.effect {
	case stubs.Call:
		s.fn.call(l.rt)
	case stubs.Interval:
		d := min(max(int64(operand), int64(policy.MinInterval)), int64(policy.MaxInterval))
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
			go b.version.cancel()
		}
	}
}
