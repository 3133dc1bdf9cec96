package cocoon

import (
	"log/slog"
	"math/bits"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// evaluate evaluates a policy on the loop's view, carries out what it says, and reports whether a
// task will be thrown into or switched at once. A policy that errs changes nothing and means
// "continue" (invariant 7). Called under the loop's lock. Cost: about 40 ns and what the effects
// cost (bench: eval).
func (l *Loop) evaluate(b *bound, now int64) (acted bool) {
	v, r := b.version, b.version.of
	mode := b.mode()
	if mode == Off || v.off.Load() || mode == Observe && v.ended.Load() {
		return false
	}
	l.view.fill(l, b.reads, b.eval.Snapshot(), now)
	r.stats.evaluations.Add(1)
	locked := b.states.some && b.states.begin(&l.rt.steps, b.eval.Snapshot(), mode == Observe, now)
	out, err := b.eval.Eval()
	if writes := out.Fired & b.states.writing; writes != 0 {
		if err = b.states.carryOut(writes, out.Values, mode == Observe, now); err != nil {
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
	for fired := out.Fired &^ b.states.writing; fired != 0; fired &= fired - 1 { // step has carried out the others
		i := bits.TrailingZeros64(fired)
		l.act(b, &b.sites[i], out.Values[i], now)
	}
	switch out.Decision {
	case stubs.Throw:
		l.throwVerdict(b, out.Reason, now)
		return true
	case stubs.Switch:
		return l.switchVerdict(b, now)
	}
	return false
}

// switchVerdict asks the task to be suspended, if there is one to run in its place. One that runs
// undisturbed for a while, because it was passed over too long, is asked when that is over.
func (l *Loop) switchVerdict(b *bound, now int64) (atOnce bool) {
	s := l.view.task
	if s == nil {
		return false
	}
	at, ok := l.core.SwitchAt(&s.core, now)
	if !ok {
		return false
	}
	if s.requests.Load()&wantSwitch == 0 {
		b.version.of.stats.switches.Add(1)
		s.post(wantSwitch, now)
	}
	return at <= now
}

// throwVerdict carries out a throw: on arrival it refuses the arriving task, else it is posted to
// the task.
func (l *Loop) throwVerdict(b *bound, reason int, now int64) {
	text := b.version.verified.Program().Reasons[reason]
	if a := l.view.arriving; a != nil {
		b.version.of.stats.refusals.Add(1)
		a.tenant.threw()
		err := a.preempted(b.version.of.name, text, "", nil, now)
		b.version.of.tellThrow(err, func() string { return "on arrival" })
		err.Started = false
		if a.core.State() == sched.Queued {
			a.withdraw(err, now)
		} else {
			a.withdrawn = err // it has a slot: its own goroutine gives it back
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
		s.postThrow(s.preempted(b.version.of.name, text, section, nil, now), id, now)
		s.pending.by = b.version.of
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
		if l.retime(); d < was { // the timer may be asleep for as long as the interval was
			b.due = min(b.due, now+d)
			l.tickBy(b.due)
		}
	case stubs.Rank:
		l.core.SetRank(&l.view.arriving.core, int64(operand))
	case stubs.Background:
		l.core.SetBackground(&l.view.arriving.core)
	case stubs.Cancel:
		// Off at once; the rest needs a lock that comes before the loop's.
		if !b.version.off.Swap(true) {
			go b.version.cancel()
		}
	}
}

// failed counts an evaluation that erred, and switches the policy off after too many in a row.
func (v *version) failed(err error) {
	r := v.of
	r.stats.errors.Add(1)
	n := v.failures.Add(1)
	text := err.Error()
	r.stats.lastError.Store(&text)
	off := n >= int64(r.rt.cfg.MaxFailures) && !v.off.Swap(true)
	if n != 1 && !off {
		return // one line a row of failures is enough
	}
	if off {
		r.rt.log.add(slog.LevelError, "cocoon: policy switched off after repeated failure", "policy", r.name, "failures", n, "error", text)
	} else {
		r.rt.log.add(slog.LevelWarn, "cocoon: policy erred; its verdict counts as continue", "policy", r.name, "error", text)
	}
}
