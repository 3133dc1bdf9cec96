package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/policy"
)

// trend is a rate or an average of a state, shared by all policies that read it over the same
// window. Each write of the state updates it (see step.go). The loop's lock serialises reads and
// writes, or the lock of the steps if the state belongs to several loops. users is guarded by
// regMu.
type trend struct {
	of    policy.Read
	users int
	main  policy.Trend

	// The trend as observing policies see it; valid while the state has a shadow.
	shadow policy.Trend
}

// trendRead is one read of a trend by a policy.
type trendRead struct {
	trend  *trend
	state  *stateVar
	offset int
}

// trend returns the trend that r reads of v, for one more user. Called with regMu held.
func (v *stateVar) trend(r policy.Read) *trend {
	var all []*trend
	if has := v.trends.Load(); has != nil {
		all = *has
	}
	for _, t := range all {
		if t.of.Stub == r.Stub && t.of.Window == r.Window {
			t.users++
			return t
		}
	}
	t := &trend{of: r, users: 1, main: policy.NewTrend(r, v.Type)}
	t.shadow = t.main // there may be a shadow already
	more := append(slices.Clone(all), t)
	v.trends.Store(&more)
	return t
}

// release gives the trends back that the policy reads. Called with regMu held, when it is evaluated
// no more.
func (s *stateUse) release() {
	for _, r := range s.trends {
		if r.trend.users--; r.trend.users > 0 {
			continue
		}
		left := slices.DeleteFunc(slices.Clone(*r.state.trends.Load()), func(t *trend) bool { return t == r.trend })
		if len(left) == 0 {
			r.state.trends.Store(nil)
		} else {
			r.state.trends.Store(&left)
		}
	}
	s.trends = nil
}

// followed reports whether a policy reads a trend of a state that this policy writes.
func (s *stateUse) followed() bool {
	for _, v := range s.vars {
		if v.trends.Load() != nil {
			return true
		}
	}
	return false
}

// follow updates the trends with the value about to be written. The first write of an observing
// policy starts a shadow, which begins with the state's past.
func (v *stateVar) follow(word uint64, observing bool, now int64) {
	trends := v.trends.Load()
	if trends == nil {
		return
	}
	was, begins := v.value(observing), observing && !v.shadowed.Load()
	for _, t := range *trends {
		if begins {
			t.shadow = t.main
		}
		if observing {
			t.shadow.Wrote(now, was, word)
		} else {
			t.main.Wrote(now, was, word)
		}
	}
}

// value returns the word that a policy reads.
func (t *trend) value(v *stateVar, observing bool, now int64) uint64 {
	if observing && v.shadowed.Load() {
		return t.shadow.Value(now, v.shadow.Load())
	}
	return t.main.Value(now, v.word.Load())
}

// restart gives the state a first value anew, and forgets its past and what observing policies have
// written. Called between two steps.
func (v *stateVar) restart(word uint64) {
	v.word.Store(word)
	v.shadowed.Store(false)
	if trends := v.trends.Load(); trends != nil {
		for _, t := range *trends {
			t.main.Restart()
		}
	}
}
