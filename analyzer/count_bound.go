package analyzer

import (
	"math"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// unbound returns the tally without the bounds that its policies keep. With max("n", 0) next to it,
// add("n", -1) has the effect of set("n", max(state.n - 1, 0)). A floor repairs a count that has
// become too low; a count that misses tasks on the way down stays too high in spite of the floor.
func (c *tally) unbound(d Declared) *tally {
	bare := &tally{}
	for _, by := range c.by {
		if slices.ContainsFunc(c.by, func(o counting) bool { return o.keeps(by, d) }) {
			continue
		}
		by.bound = slices.ContainsFunc(c.by, func(o counting) bool { return by.keeps(o, d) })
		bare.add(by)
	}
	return bare
}

// keeps reports whether the effect counts, and bound, of the same policy, keeps the count on its
// side of the first value, or of 0.
func (c counting) keeps(bound counting, d Declared) bool {
	site := bound.m.Verified.program.Sites[bound.effect.Index]
	if c.m.Spec.Name != bound.m.Spec.Name || c.sign == 0 || bound.effect.A == nil || bound.effect.A.Op != ir.OpConst ||
		!slices.Equal(c.m.keyKind(c.m.Verified.program.Sites[c.effect.Index].By), bound.m.keyKind(site.By)) {
		return false
	}
	first, known := bound.firstOf(d)
	if !known {
		first = 0
	}
	at := float64(int64(bound.effect.A.Imm))
	if site.Type == stubs.Float {
		at = math.Float64frombits(bound.effect.A.Imm)
	}
	return c.sign < 0 && site.Effect == stubs.Max && at <= first || c.sign > 0 && site.Effect == stubs.Min && at >= first
}
