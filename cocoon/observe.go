package cocoon

import (
	"fmt"
	"log/slog"
	"math"
	"math/bits"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// A policy in observe mode is a dry run: it counts what it would do if it were enforced, as far as
// that can be known while it is not. Observing policies see the writes of observing policies; other
// code does not. A policy's own interval does change.

// wouldCount records the decision of a policy about the task, and reports whether it is a new one.
// at is a number that rises with each new subject of the decision. Called under the loop's lock.
func (s *strand) wouldCount(r *Registration, d stubs.Decision, at int64) bool {
	if s.would == nil {
		s.would = new([]wouldBe)
	}
	for i := range *s.would {
		if w := &(*s.would)[i]; w.of == r && w.decision == d {
			news := at > w.until
			w.until = max(at, w.until)
			return news
		}
	}
	*s.would = append(*s.would, wouldBe{r, d, at})
	return true
}

// absent reports whether the view is about a task that would not be there if the observing policies
// were enforced. Observing policies then write no shadows, so that a count of the tasks that they let
// in does not fall when a task ends that they have not counted.
func (v *view) absent() bool {
	s := v.subject()
	return s != nil && s.absent
}

// ofTask is the subject of a throw that would end the task: nothing comes after it.
const ofTask = math.MaxInt64

// observe counts what an observing policy would have done, logs it at most once a second, and
// reports, like evaluate, whether a task would be thrown into or switched at once. Called under the
// loop's lock.
func (l *Loop) observe(b *bound, out ir.Outcome, now int64) (acted bool) {
	r, news := b.version.of, out.Fired != 0
	switch s := l.view.task; {
	case out.Decision == stubs.Throw && l.view.arriving != nil:
		acted, l.view.arriving.absent = true, true
		if l.view.arriving.wouldCount(r, stubs.Throw, ofTask) {
			r.stats.wouldThrow.Add(1)
			news = true
		}
	case out.Decision == stubs.Throw && s != nil:
		acted = true
		if s.pending == nil && s.wouldCount(r, stubs.Throw, l.view.thrownThrough()) {
			r.stats.wouldThrow.Add(1)
			news = true
		}
	case out.Decision == stubs.Switch && s != nil:
		at, ok := l.core.SwitchAt(&s.core, now)
		acted = ok && at <= now
		if ok && s.requests.Load()&wantSwitch == 0 && s.wouldCount(r, stubs.Switch, s.core.Since()) {
			r.stats.wouldSwitch.Add(1)
			news = true
		}
	}
	if l.observeEffects(b, out, now); news {
		l.tellObservedVerdict(b, out, now)
	}
	if news && r.stats.logs.due(notify.Now()) {
		l.tellObserved(b, out)
	}
	return acted
}

// observeEffects counts effects. It carries out effects that concern only the policy itself,
// because without them later evaluations would differ.
func (l *Loop) observeEffects(b *bound, out ir.Outcome, now int64) {
	if out.Fired == 0 {
		return
	}
	b.version.of.stats.wouldEffect.Add(int64(bits.OnesCount64(out.Fired)))
	for fired := out.Fired &^ b.states.Writing; fired != 0; fired &= fired - 1 {
		i := bits.TrailingZeros64(fired)
		switch s := &b.sites[i]; s.effect {
		case stubs.Interval:
			l.act(b, s, out.Values[i], now)
		case stubs.Cancel:
			b.version.ended.Store(true)
		}
	}
}

// thrownThrough returns the number of the section that a throw would end: sections are numbered in
// the order in which they open. Called under the loop's lock.
func (v *view) thrownThrough() int64 {
	if open := v.sections(); len(open) > 0 {
		return int64(open[len(open)-1].id)
	}
	return ofTask
}

// tellObserved logs what an observing policy would have done, and the values read by the policy.
// Called under the loop's lock.
func (l *Loop) tellObserved(b *bound, out ir.Outcome) {
	r, p := b.version.of, b.version.verified.Program()
	task := ""
	if s := l.view.subject(); s != nil {
		task = s.task.Path()
	}
	would := out.Decision.String()
	if out.Decision == stubs.Throw {
		would = document.ThrowText(p.Reasons[out.Reason], time.Duration(out.Retry))
	}
	for fired := out.Fired; fired != 0; fired &= fired - 1 {
		site := p.Sites[bits.TrailingZeros64(fired)]
		would += fmt.Sprintf("; %v(%s)", site.Effect, site.Name)
	}
	st, found := r.stats.snapshot(), b.ruling(&l.view).find()
	r.rt.log.add(slog.LevelInfo, "cocoon: policy in observe mode", "policy", r.name, "loop", l.cfg.Name, "task", task, "section", l.view.section(),
		"would", would, "because", found.because(), "branch", found.branch.String(),
		"would_throw", st.WouldThrow, "would_switch", st.WouldSwitch, "would_effect", st.WouldEffect)
}
