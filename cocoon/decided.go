package cocoon

import (
	"fmt"
	"math/bits"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// What puts decisions into the stream. These functions have frames of their own, because a Decision
// is large, and the stacks of tasks that a policy leaves alone should stay small.

// about returns a decision about a task. Called under the loop's lock.
func (l *Loop) about(kind DecisionKind, s *strand) Decision {
	return Decision{Kind: kind, Loop: l.cfg.Name, Task: s.task.shortPath(), Tenant: s.shortTenant()}
}

// shortTenant returns the name of the tenant of the task that has arrived last, or "". The name of
// an account does not change, so the task's goroutine needs no lock.
func (s *strand) shortTenant() string {
	if s.tenant == nil {
		return ""
	}
	return cutText(s.tenant.text, maxDecisionText)
}

// shortPath returns the task's path for a decision. The name of a class that is kept anyway need
// not be copied.
func (t *Task) shortPath() string {
	if t.class.kept && t.up.Load() == nil && len(t.class.text) <= maxDecisionText {
		return t.class.text
	}
	return cutText(t.Path(), maxDecisionText)
}

// verdict puts the verdict of a policy about a task into the stream, and returns what it was based
// on. Called under the loop's lock, after the evaluation.
//
//go:noinline
func (l *Loop) verdict(kind DecisionKind, b *bound, s *strand, section, reason string, now int64) *ruling {
	r := b.ruling(&l.view)
	if !b.version.of.stats.kept.take(now) {
		l.rt.decisions.skip()
		return r
	}
	d := l.about(kind, s)
	d.Section, d.Reason, d.Late = cutText(section, maxDecisionText), reason, time.Duration(b.late)
	d.by(r, b.mode())
	l.rt.decisions.add(sortVerdict, &d)
	return r
}

// by makes d the decision of a policy.
func (d *Decision) by(r *ruling, m Mode) {
	d.Policy, d.Version, d.Mode, d.ruling = r.policy, r.version, m, r
}

// tellObservedVerdict puts what an observing policy would have done into the stream. Called under
// the loop's lock, after the evaluation.
func (l *Loop) tellObservedVerdict(b *bound, out ir.Outcome, now int64) {
	program, kind, reason := b.version.verified.Program(), DecisionSwitch, ""
	switch {
	case out.Decision == stubs.Continue:
		return // it would have had effects
	case out.Decision == stubs.Throw:
		kind, reason = DecisionThrow, program.Reasons[out.Reason]
	case !l.rt.decisions.watched.Load():
		return
	}
	if l.view.arriving != nil && kind == DecisionThrow {
		kind = DecisionRefusal
	}
	l.verdict(kind, b, l.view.subject(), l.view.section(), reason, now)
}

// statesSet puts the states that an evaluation has set to other values into the stream. sites are
// the effects that did. Only set counts: a policy that counts tasks would fill the stream. Called
// under the loop's lock, after the evaluation.
//
//go:noinline
func (l *Loop) statesSet(b *bound, sites uint64, values []uint64, now int64) {
	for ; sites != 0; sites &= sites - 1 {
		i := bits.TrailingZeros64(sites)
		if !b.version.of.stats.keptStates.take(now) {
			l.rt.decisions.skip()
			continue
		}
		r := b.ruling(&l.view)
		r.effect = i + 1
		d := Decision{Kind: DecisionState, Loop: l.cfg.Name}
		if s := l.view.subject(); s != nil {
			d = l.about(DecisionState, s)
		}
		site := b.version.verified.Program().Sites[i]
		d.Reason = cutText(StubValue{"state." + site.Name, stubs.Value(values[i], site.Type)}.String(), maxDecisionText)
		d.by(r, b.mode())
		l.rt.decisions.add(sortState, &d)
	}
}

// unkept stands for why a task is asked to switch, if the decision will not be kept.
var unkept = new(ruling)

// rulingOfSwitch returns why a task is asked to switch, or nil if no reader watches. Called under
// the loop's lock, after the evaluation.
func (b *bound) rulingOfSwitch(now int64) *ruling {
	switch rt := b.loop.rt; {
	case !rt.decisions.watched.Load():
		return nil
	case !b.version.of.stats.kept.take(now):
		return unkept
	}
	return b.ruling(&b.loop.view)
}

// switched puts the switch of a task into the stream, if a policy has asked for it while a reader
// watched. Called under the loop's lock, when the task is suspended.
//
//go:noinline
func (s *strand) switched(now int64) {
	r := s.switching
	if r == nil {
		return
	}
	s.switching = nil
	if r == unkept {
		s.loop.rt.decisions.skip()
		return
	}
	d := s.loop.about(DecisionSwitch, s)
	d.Section, d.Late = cutText(s.section(), maxDecisionText), time.Duration(now-s.postedAt)
	d.by(r, Enforce)
	if r.basis.Load().gone.Load() {
		r.settle() // the stream was settled before it came
	}
	s.loop.rt.decisions.add(sortSwitch, &d)
}

// stalled puts a stall into the stream. Called under the loop's lock.
//
//go:noinline
func (s *strand) stalled(silent int64) {
	d := s.loop.about(DecisionStall, s)
	d.Section, d.Late = cutText(s.section(), maxDecisionText), time.Duration(silent)
	s.loop.rt.decisions.add(sortVerdict, &d)
	s.loop.rt.recorder.snapshot("stall")
}

// overloaded puts the refusal of a task that found the queue full into the stream, and returns its
// error. The task has not begun.
//
//go:noinline
func (s *strand) overloaded(t *Task, waiting int) error {
	err := t.overloaded(waiting)
	rt := s.loop.rt
	if !rt.decisions.overloads.take(notify.Now()) {
		rt.decisions.skip()
		return err
	}
	rt.decisions.add(sortVerdict, &Decision{
		Kind: DecisionRefusal, Loop: s.loop.cfg.Name, Task: t.shortPath(), Tenant: s.shortTenant(), Reason: ErrOverloaded.Error(),
	})
	rt.recorder.snapshot("overload")
	return err
}

// section returns the name of the task's innermost open section, or "". Called under the loop's
// lock.
func (s *strand) section() string {
	var buf [stubs.MaxStack]seenSection
	if open := s.sections.read(&buf); len(open) > 0 {
		return open[len(open)-1].name.text
	}
	return ""
}

// changed puts a change of a version into the stream. Called with regMu held, except for
// DecisionPolicyOff.
func (v *version) changed(kind DecisionKind, m Mode, reason string) {
	d := Decision{Kind: kind, Policy: v.of.name, Version: v.number, Mode: m, Reason: reason}
	if from := v.from.Load(); from != nil {
		d.File = from.file
	}
	v.of.rt.decisions.add(sortChange, &d)
}

// ruling returns the basis of the last evaluation. Called under the loop's lock.
func (b *bound) ruling(v *view) *ruling {
	base := b.version.basis.Load()
	r := &ruling{policy: b.version.of.name, version: b.version.number}
	r.basis.Store(base)
	set(&base.used, true)
	r.snapshot = append(r.fewWords[:0], b.eval.Snapshot()...)
	r.texts = r.fewTexts[:0]
	room := maxValueTexts
	add := func(text string) {
		text = cutText(text, min(maxValueText, max(room, len("…"))))
		room -= len(text)
		r.texts = append(r.texts, text)
	}
	for _, read := range base.program.Reads {
		switch {
		case read.Type == stubs.NameList:
			for _, text := range v.stack() {
				add(text)
			}
		case isText(read):
			add(v.textOf(read.Stub, stubs.Intern(read.Key), b.loop))
		}
	}
	return r
}

// overloaded returns the error of a task that finds the queue full.
//
//go:noinline
func (t *Task) overloaded(waiting int) error {
	return fmt.Errorf("cocoon: task %q did not start: %w: %d tasks wait on loop %q", t.Path(), ErrOverloaded, waiting, t.Loop().cfg.Name)
}
