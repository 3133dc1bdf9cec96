package analyzer

import (
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// target is what an effect writes: a key of a state, the place of a task in the queue, or the
// policy's interval.
type target struct {
	effect stubs.Effect // Rank, Interval, or Set for states
	name   string
	key    policy.KeyOf
}

// targetOf returns the target of an effect; ok is false if the effect writes none.
func targetOf(s policy.Site) (t target, ok bool) {
	switch s.Effect {
	case stubs.Rank, stubs.Interval:
		return target{effect: s.Effect}, true
	case stubs.Set, stubs.Add, stubs.Max, stubs.Min:
		t = target{effect: stubs.Set, name: s.Name}
		if s.By != nil {
			t.key = *s.By
		}
		return t, true
	}
	return t, false
}

// lost warns of effects that a later effect on each path behind them overwrites. It returns the
// targets that n overwrites on all its paths, with the last effect on each. An effect that another
// one overwrites on some paths alone is a default, and gets no warning.
func (a *analysis) lost(n *policy.Node) map[target]*policy.Node {
	switch n.Op {
	case policy.OpEffect:
		site := a.p.Sites[n.Index]
		if t, ok := targetOf(site); ok && (site.Effect == stubs.Set || t.effect != stubs.Set) {
			return map[target]*policy.Node{t: n}
		}
	case policy.OpLet:
		return a.lost(n.B)
	case policy.OpIf:
		one, other := a.lost(n.B), a.lost(n.C)
		for t := range one {
			if other[t] == nil {
				delete(one, t)
			}
		}
		return one
	case policy.OpSeq:
		first, then := a.lost(n.A), a.lost(n.B)
		if len(then) == 0 {
			return first
		}
		n.A.Any(func(n *policy.Node) bool {
			if n.Op != policy.OpEffect {
				return false
			}
			if t, ok := targetOf(a.p.Sites[n.Index]); ok && then[t] != nil {
				a.warn(n, "remove one of the two", "%s does nothing: %s comes after it, and the last one counts", a.text(n), a.text(then[t]))
			}
			return false
		})
		for t, n := range first {
			if then[t] == nil {
				then[t] = n
			}
		}
		return then
	}
	return nil
}

// vain warns of an effect that changes nothing: it adds or takes 0, or writes back the value that
// it reads.
func (r *review) vain(n *policy.Node) {
	site, nothing := r.p.Sites[n.Index], n.A != nil && n.A.Op == policy.OpConst && r.zeroAt(n.A)
	switch {
	case site.Effect == stubs.Add && nothing:
		r.warn(n, "", "%s changes nothing: it adds 0", r.text(n))
	case site.Effect == stubs.Take && nothing:
		r.warn(n, "", "%s takes nothing, and is always true", r.text(n))
	case site.Effect == stubs.Set && n.A.Op == policy.OpRead && site.By == nil:
		if read := r.reads[n.A.Index]; read.Stub == stubs.State && read.Key == site.Name {
			r.warn(n, "", "%s changes nothing: it is the value that the state has", r.text(n))
		}
	}
}

func (r *review) zeroAt(n *policy.Node) bool { return constant(n.Type, n.Imm).hasZero() }
