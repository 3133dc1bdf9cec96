package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/lang"
	"github.com/cocoon-go/cocoon/stubs"
)

// keys checks the sources of the keys of keyed states.
func (f *form) keys() error {
	if n := f.p.LookUps(); n > lang.MaxLookUps {
		return malformed("%d keys and buckets are read; at most %d", n, lang.MaxLookUps)
	}
	for i, r := range f.p.Reads {
		if !f.key(r.By) {
			return malformed("read %d, of the state %q, has a key that is not a name or an int", i, r.Key)
		}
	}
	for i, s := range f.p.Sites {
		if !f.key(s.By) || s.By != nil && !s.Effect.Writes() {
			return malformed("effect %d, %v, has a key that is not a name or an int", i, s.Effect)
		}
	}
	return nil
}

// key reports whether the parts of a key are constants, or names or ints from stubs of the
// catalogue.
func (f *form) key(k *ir.KeyOf) bool {
	if k == nil {
		return true
	}
	for i, p := range k {
		r, ok := f.reads[p.Offset]
		switch {
		case p == ir.KeyPart{} && i > 0 && i == k.Types().Parts():
			return true
		case p.Type != stubs.Name && p.Type != stubs.Int:
			return false
		case !p.Constant && (!ok || r.Stub >= stubs.State || r.Type != p.Type):
			return false
		}
	}
	return true
}

// take checks a bool that takes tokens, one level below depth.
func (f *form) take(n *ir.Node, depth int) error {
	if n.Index < 0 || n.Index >= len(f.sites) || n.Type != stubs.Bool || n.B == nil || n.B.Op != ir.OpRead {
		return at(n, "nothing is taken: site %d of %d", n.Index, len(f.sites))
	}
	if err := f.site(n); err != nil {
		return err
	}
	site, bucket := f.p.Sites[n.Index], f.reads[n.B.Index]
	switch {
	case f.loops > 0:
		return at(n, "tokens are taken in a predicate")
	case site.Effect != stubs.Take || bucket.Burst == 0 || bucket.Key != site.Name || !sameKey(bucket.By, site.By):
		return at(n, "effect %d does not take from what is read", n.Index)
	}
	return f.operands(n, depth, stubs.Float, stubs.Float)
}

func sameKey(a, b *ir.KeyOf) bool { return a == b || a != nil && b != nil && *a == *b }

// checkTakes refuses two takes from one bucket in one evaluation, because the second would depend
// on the first. Different keys count as one bucket, because they may have the same name.
func checkTakes(p *ir.Program) error {
	_, second := takes(p, p.Root, nil)
	if second == nil {
		return nil
	}
	name := p.Sites[second.Index].Name
	return p.Errorf(second, "take once, let ok = take(...);, or take on paths that exclude each other",
		"the policy takes from %q twice on one path", name)
}

// takes returns the buckets from which the evaluation of n may have taken, if takes from the
// buckets in before may precede it; and the first node that takes from a bucket again.
func takes(p *ir.Program, n *ir.Node, before []string) (after []string, second *ir.Node) {
	if n == nil || len(p.Sites) == 0 {
		return before, nil
	}
	after, second = takes(p, n.A, before)
	if second != nil {
		return after, second
	}
	if n.Op == ir.OpIf {
		b, second := takes(p, n.B, after)
		if second != nil {
			return b, second
		}
		c, second := takes(p, n.C, after)
		return append(b[:len(b):len(b)], c[len(after):]...), second
	}
	if after, second = takes(p, n.B, after); second != nil {
		return after, second
	}
	if n.Op == ir.OpTake {
		name := p.Sites[n.Index].Name
		for _, other := range after {
			if other == name {
				return after, n
			}
		}
		after = append(after[:len(after):len(after)], name)
	}
	return after, nil
}

// take follows a bool that takes tokens: its value is whether the bucket has enough.
func (a *analysis) take(n *ir.Node) (term, value) {
	x, wanted := a.eval(n.A)
	y, there := a.eval(n.B)
	a.checkTokens(n, wanted)
	v, _ := apply(ir.OpGe, stubs.Bool, there, wanted)
	t := a.facts.operation(ir.OpGe, stubs.Bool, y, x)
	if v.truth.yes && a.facts.possible(t, true) {
		a.reached[n] = true
		if a.taking != nil {
			a.facts.assume(t, true, a.taking)
		}
	}
	return t, v
}

// checkTokens refuses a number of tokens that may be negative or NaN, as it refuses a divisor that
// may be 0, and a number that the bucket never has.
func (a *analysis) checkTokens(n *ir.Node, wanted value) {
	if a.facts.dead {
		return
	}
	text, floats, burst := a.text(n.A), wanted.floats, a.reads[n.B.Index].Burst
	switch {
	case floats.hi < 0 && !floats.nan:
		a.refuse(n.A, "", "a number of tokens is 0 or more, and %s is less", text)
	case floats.lo < 0:
		a.refuse(n.A, "guard it: "+text+" >= 0 and take(...)", "a number of tokens is 0 or more, and %s may be less here", text)
	case floats.nan:
		a.refuse(n.A, "guard it: "+text+" >= 0 and take(...)", "a number of tokens is a number, and %s may be none (NaN) here", text)
	case floats.lo > burst:
		a.refuse(n, "declare a greater burst, or take less", "the bucket %q holds %v tokens, and never %s", a.p.Sites[n.Index].Name, burst, text)
	}
}

// overdrawn warns of a number of tokens that the bucket never has, as one side of a choice; and of
// a cost that is 0 for tasks of unknown cost.
func (a *analysis) overdrawn() (all []Warning) {
	a.p.Root.Any(func(n *ir.Node) bool {
		if n.Op != ir.OpTake || !a.reached[n] {
			return false
		}
		burst, name := a.reads[n.B.Index].Burst, a.p.Sites[n.Index].Name
		for _, side := range a.sides(n.A) {
			if v := a.values[side]; v.of == stubs.Float && v.floats.lo > burst || v.of.Integral() && v.of != stubs.Invalid && float64(v.ints.lo) > burst {
				all = append(all, Warning{a.p.Errorf(side, "declare a greater burst, or take less", "the bucket %q holds %v tokens, and never %s", name, burst, a.text(side))})
			}
		}
		if source := (source{stub: stubs.ArrivingCost}); a.slope(n.A, source) == rising && a.freeOfCost(n) {
			all = append(all, Warning{a.p.Errorf(n, "take a least number, as in max("+a.text(n.A)+", 1.0)",
				"%s takes nothing for a task of unknown cost: arriving.cost is 0 then", a.text(n))})
		}
		return false
	})
	return all
}

// sides returns the sides of the choices that make a number, or nothing for one without a choice.
func (a *analysis) sides(n *ir.Node) (all []*ir.Node) {
	for n = a.named(n); n != nil && (n.Op == ir.OpFloat || n.Op == ir.OpLet); n = a.named(n) {
		if n.Op == ir.OpLet {
			n = n.B
		} else {
			n = n.A
		}
	}
	if n == nil || n.Op != ir.OpIf || isLowered(n) {
		return nil
	}
	for _, side := range []*ir.Node{n.B, n.C} {
		if more := a.sides(side); more != nil {
			all = append(all, more...)
		} else {
			all = append(all, side)
		}
	}
	return all
}

// freeOfCost reports whether an operation takes no tokens for a task of unknown cost.
func (a *analysis) freeOfCost(n *ir.Node) bool {
	b := newAnalysis(a.p, 0)
	for _, r := range b.p.Reads {
		if r.Stub == stubs.ArrivingCost {
			b.facts.learn(b.facts.read(r), intValue(r.Type, exactly(0)))
		}
	}
	b.statement(b.p.Root)
	v := b.values[n.A]
	return b.reached[n] && v.of == stubs.Float && v.floats.equal(exactlyFloat(0)) == truth{yes: true}
}
