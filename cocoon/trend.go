package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/policy"
)

// trend is a rate or an average of a state, for all policies that read it over the same window. It
// is followed as the state is written (see step.go); who writes and who reads take turns, by the
// loop's lock or by that of the steps. Its users are guarded by regMu.
type trend struct {
	of    policy.Read
	users int
	main  policy.Trend

	// As observing policies have it; of use while the state has a shadow.
	shadow policy.Trend
}

// trendRead is a trend that a policy reads.
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
	t := &trend{of: r, users: 1, main: policy.NewTrend(r, v.typ)}
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

// followed reports whether some policy reads a trend of a state that is written.
func (s *stateUse) followed() bool {
	for _, v := range s.vars {
		if v.trends.Load() != nil {
			return true
		}
	}
	return false
}

// follow moves the trends on with a value that is about to be written. What an observing policy
// writes begins a shadow, with the past that the state has.
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

// restart gives the state a first value anew, and forgets its past. Called between two steps.
func (v *stateVar) restart(word uint64) {
	v.word.Store(word)
	if trends := v.trends.Load(); trends != nil {
		for _, t := range *trends {
			t.main.Restart()
		}
	}
}
