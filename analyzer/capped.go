package analyzer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// capped returns warnings about states that begin above the cap to which policies raise them: with
// 100, where an effect is set("free", min(10, state.free + 1)) or happens while state.free < 10.
func capped(members []Member, d Declared) (all []Remark) {
	counts := countsOf(members)
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		for _, by := range counts[state].by {
			first, ok := by.firstOf(d)
			if !ok || first <= 0 || by.effect.A.Op == ir.OpConst && by.sign <= 0 {
				continue
			}
			s, _ := by.declaration(d)
			begins := number(s.Type, int64(first))
			if s.Type == stubs.Float {
				begins = fmt.Sprint(first)
			}
			if by.capBinds(constant(s.Type, s.First)) {
				all = append(all, by.m.remark(by.effect, "begin with the cap, or raise the cap",
					"the state %s begins with %v, which is above the cap of %s", by.state(), begins, by.m.text(by.effect)))
				break
			}
			if by.sign > 0 && by.never(upperHalf(constant(s.Type, s.First))) {
				all = append(all, by.m.remark(by.effect, "begin with the greatest value to which the policy raises it",
					"the state %s begins with %v, and %s never happens above half of that", by.state(), begins, by.m.text(by.effect)))
				break
			}
		}
	}
	return all
}

// upperHalf returns the values between half of a constant and the constant.
func upperHalf(v value) value {
	v.ints.lo, v.floats.lo = v.ints.lo-v.ints.lo/2, v.floats.lo/2
	return v
}

// capBinds reports whether an effect sets the state to the least of a constant and something that
// is greater when the state has its first value.
func (c counting) capBinds(first value) bool {
	p := c.m.Verified.program
	if p.Sites[c.effect.Index].Effect != stubs.Set {
		return false
	}
	a := c.whileIs(first)
	x := a.named(c.effect.A)
	for x != nil && x.Op == ir.OpLet {
		x = a.named(x.B)
	}
	most, step, greatest, ok := a.extreme(x)
	v, reached := a.values[step]
	if !ok || greatest || !reached || !a.reached[c.effect] || a.slope(step, source{stubs.State, c.state()}) != rising {
		return false
	}
	if _, shrinks := a.stepOf(step, p.Sites[c.effect.Index]); shrinks {
		return false // bent has a warning
	}
	return v.of == stubs.Float && !v.floats.nan && v.floats.lo > most && first.floats.lo > most ||
		v.of.Integral() && float64(v.ints.lo) > most && float64(first.ints.lo) > most
}

// never reports whether the effect is never reached while its state has one of some values, and is
// reached otherwise.
func (c counting) never(v value) bool {
	free := newAnalysis(c.m.Verified.program, 0)
	free.statement(free.p.Root)
	return free.reached[c.effect] && !c.whileIs(v).reached[c.effect]
}

// whileIs returns the analysis of the policy while the state has one of some values.
func (c counting) whileIs(v value) *analysis {
	a := newAnalysis(c.m.Verified.program, 0)
	for _, r := range a.p.Reads {
		if r.Stub == stubs.State && r.Key == c.state() && sameKey(r.By, a.p.Sites[c.effect.Index].By) {
			a.facts.learn(a.facts.read(r), v)
		}
	}
	a.statement(a.p.Root)
	return a
}
