package analyzer

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// apartFromNaN warns of conditions of choices that hold whenever they are reached, if float states
// and their averages are numbers, which they always are on a server: a hysteresis with swapped
// thresholds, for example. The verifier itself reckons with NaN, so this is only for warnings.
func (a *analysis) apartFromNaN() {
	b, some := newAnalysis(a.p, a.interval), false
	for _, r := range a.p.Reads {
		if r.Type == stubs.Float && r.Burst == 0 && (r.Stub == stubs.State || r.Stub == stubs.StateAverage) {
			b.facts.learn(b.facts.read(r), floatValue(floats{lo: math.Inf(-1), hi: math.Inf(1)}))
			some = true
		}
	}
	if !some {
		return
	}
	b.statement(b.p.Root)
	for _, choice := range a.p.Choices {
		n := choice.A
		v, reached := b.values[n]
		orders := n.Op == ir.OpLt || n.Op == ir.OpLe || n.Op == ir.OpGt || n.Op == ir.OpGe
		if !orders || !reached || !v.truth.constant() || a.values[n].truth.constant() {
			continue
		}
		x := n.A
		if x.Op == ir.OpConst {
			x = n.B
		}
		if x.Type == stubs.Float {
			a.warn(n, "swap the two thresholds, or leave the condition out", "%s is always %v: %s is %s here", a.text(n), v.truth.yes, a.text(x), b.describe(b.values[x]))
		}
	}
}
