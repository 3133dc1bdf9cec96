package states

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
)

// trendRead is one read of a trend by a policy.
type trendRead struct {
	trend  *trend
	state  *Var
	offset int
}

// trend returns the trend that r reads of v, for one more user. A new trend begins now. Called with
// the lock of registrations held.
func (v *Var) trend(r ir.Read, now int64) *trend {
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
	t := &trend{of: r, users: 1, main: ir.NewTrend(r, v.Type, now, v.word.Load())}
	t.shadow = t.main // there may be a shadow already
	more := append(slices.Clone(all), t)
	v.trends.Store(&more)
	return t
}

// follow updates the trends with the value about to be written. The first write of an observing
// policy starts a shadow, which begins with the state's past.
func (v *Var) follow(word uint64, observing bool, now int64) {
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
func (t *trend) value(v *Var, observing bool, now int64) uint64 {
	if observing && v.shadowed.Load() {
		return t.shadow.Value(now, v.shadow.Load())
	}
	return t.main.Value(now, v.word.Load())
}

// restart gives the state a first value again, and forgets its past and what observing policies
// have written. Called between two steps.
func (v *Var) restart(word uint64, now int64) {
	v.word.Store(word)
	v.shadowed.Store(false)
	if trends := v.trends.Load(); trends != nil {
		for _, t := range *trends {
			t.main.Restart(now, word)
		}
	}
}
