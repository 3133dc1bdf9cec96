package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// target is the object of an effect: a key of a state, the place of a task in the queue, or the
// policy's interval.
type target struct {
	effect stubs.Effect // Rank, Interval, or Set for states
	name   string
	key    ir.KeyOf
}

// targetOf returns the target of an effect; ok is false if the effect writes none.
func targetOf(s ir.Site) (t target, ok bool) {
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

// lost warns of effects that a later effect overwrites on each path. It returns the targets that n
// overwrites on all its paths, with the last effect on each. An effect that another one overwrites
// only on some paths is a default, and gets no warning.
func (a *analysis) lost(n *ir.Node) map[target]*ir.Node {
	switch n.Op {
	case ir.OpEffect:
		site := a.p.Sites[n.Index]
		if t, ok := targetOf(site); ok && (site.Effect == stubs.Set || t.effect != stubs.Set) {
			return map[target]*ir.Node{t: n}
		}
	case ir.OpLet:
		return a.lost(n.B)
	case ir.OpIf:
		one, other := a.lost(n.B), a.lost(n.C)
		for t := range one {
			if other[t] == nil {
				delete(one, t)
			}
		}
		return one
	case ir.OpSeq:
		first, then := a.lost(n.A), a.lost(n.B)
		if len(then) == 0 {
			return first
		}
		n.A.Any(func(n *ir.Node) bool {
			if n.Op != ir.OpEffect {
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
func (r *review) vain(n *ir.Node) {
	site := r.a.p.Sites[n.Index]
	switch {
	case site.Effect == stubs.Add && r.a.nothing(n):
		r.a.warn(n, r.a.hint(n.A), "%s changes nothing: it adds 0", r.a.text(n))
	case site.Effect == stubs.Take && n.A.Op == ir.OpConst && constant(n.A.Type, n.A.Imm).hasZero():
		r.a.warn(n, "", "%s takes nothing, and is always true", r.a.text(n))
	case site.Effect == stubs.Set && n.A.Op == ir.OpRead && site.By == nil:
		if read := r.a.reads[n.A.Index]; read.Stub == stubs.State && read.Key == site.Name {
			r.a.warn(n, "", "%s changes nothing: it is the value that the state has", r.a.text(n))
		}
	}
}

// nothing reports whether the operand of an effect is 0, if only by the events of the policy.
func (a *analysis) nothing(n *ir.Node) bool {
	v, reached := a.values[n.A]
	switch {
	case !reached:
		return false
	case v.of == stubs.Float:
		return v.floats.equal(exactlyFloat(0)) == truth{yes: true}
	case v.of == stubs.Duration && n.A.Op == ir.OpRead:
		b, bounded := onAll(a.p, a.reads[n.A.Index].Stub)
		return a.lenient && bounded && b.Most == 0
	}
	return v.of.Integral() && v.ints == exactly(0)
}
