package cocoon

import (
	"math"
	"math/bits"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/stubs"
)

// evaluate evaluates a policy on the loop's view, carries out the result, and reports whether the
// verdict is a throw, or a switch that is possible now. Events (event.go) and the timer (ticks.go)
// call for it. An evaluation that fails changes nothing
// and counts as continue (invariant 7). Called under the loop's lock. It costs about 40 ns in
// addition to the cost of the effects (bench: eval).
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
	locked := b.states.Some && b.states.Begin(&l.rt.steps, b.eval.Snapshot(), mode == Observe, now)
	out, err := b.eval.Eval()
	changed := uint64(0) // bit i: site i has set a state to another value
	if writes := out.Fired & b.states.Writing; writes != 0 && !(mode == Observe && l.view.absent()) {
		if changed, err = b.states.CarryOut(writes, out.Values, b.eval.Snapshot(), mode == Observe, now); err != nil {
			out = ir.Outcome{}
		}
	}
	if locked {
		l.rt.steps.Unlock()
	}
	if err != nil {
		v.failed(err, mode)
		return false
	}
	if v.failures.Load() != 0 {
		v.failures.Store(0)
	}
	if changed != 0 && l.rt.decisions.watched.Load() {
		l.statesSet(b, changed, out.Values, now)
	}
	if mode == Observe {
		return l.observe(b, out, now)
	}
	if out.Fired != 0 {
		r.stats.effects.Add(int64(bits.OnesCount64(out.Fired)))
	}
	// CarryOut has done the effects that write states.
	for fired := out.Fired &^ b.states.Writing; fired != 0; fired &= fired - 1 {
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
		s.switching = b.rulingOfSwitch(now)
	}
	return at <= now
}

// maxRetry is the longest time after which callers are told to retry. A policy may compute the time
// from a task's deadline, which is 146 years away for a task without one.
const maxRetry = 24 * time.Hour

// throwVerdict refuses the arriving task, or posts the throw to the task, which unwinds at its next
// safe point (answerThrow).
func (l *Loop) throwVerdict(b *bound, out ir.Outcome, now int64) {
	text := b.version.verified.Program().Reasons[out.Reason]
	retry := min(time.Duration(max(0, out.Retry)), maxRetry)
	if a := l.view.arriving; a != nil {
		b.version.of.stats.refusals.Add(1)
		a.tenant.threw()
		err := a.preempted(b.version.of.name, text, "", nil, now)
		err.Started, err.RetryAfter = false, retry
		err.ruling = l.verdict(DecisionRefusal, b, a, "", text, now)
		b.version.of.tellThrow(err, func() string { return "on arrival" })
		if a.core.State() == sched.Queued {
			a.withdraw(err, now)
		} else {
			a.withdrawn = &withdrawal{err} // it has a slot, which its own goroutine gives back
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
		err.ruling = l.verdict(DecisionThrow, b, s, section, text, now)
		s.postThrow(err, id, now)
		s.pending.by, s.pending.force = b.version.of, b.version.spec.Force
	}
}
