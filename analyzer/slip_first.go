package analyzer

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// firstFailure warns of rate("failures", duration("1m")) * 60 >= 5: while the window has not passed
// for the first time, a rate is the growth divided by the time so far, so that a single failure soon
// after the start is as much as the condition asks for. An author who knows that compares the state,
// too. A condition that one failure fulfils in any case, or for less than a second, has no warning.
func (a *analysis) firstFailure() (all []Warning) {
	a.p.Root.Any(func(n *ir.Node) bool {
		r, each, ok := a.rateLimit(n)
		if !ok || !countsTrouble(r.Key) || slices.ContainsFunc(a.p.Reads, func(o ir.Read) bool { return o.Stub == stubs.State && o.Key == r.Key }) {
			return false
		}
		count := each * r.Window.Seconds()
		if each > 1 || count < 2 || count >= startParts {
			return false
		}
		all = append(all, Warning{a.p.Errorf(n, fmt.Sprintf("write ... and state.%s >= %v", r.Key, math.Ceil(count-1e-9)),
			"%s holds after one failure within %v of the start: until its window has passed, a rate is the growth divided by the time so far",
			a.text(n), time.Duration(float64(time.Second)/each).Round(time.Millisecond))})
		return true
	})
	return all
}

// startParts is the number of parts of a window of which at least one counts as the time so far.
const startParts = 64

// rateLimit returns the rate of a state in a comparison that holds while the rate is above a
// constant, and the constant for each second: 0.083 of rate(...) * 60 >= 5.
func (a *analysis) rateLimit(n *ir.Node) (r ir.Read, each float64, ok bool) {
	x, limit := n.A, n.B
	switch n.Op {
	case ir.OpGt, ir.OpGe:
	case ir.OpLt, ir.OpLe:
		x, limit = n.B, n.A
	default:
		return r, 0, false
	}
	x, limit = a.named(x), a.named(limit)
	if x == nil || limit == nil || limit.Op != ir.OpConst || limit.Type != stubs.Float {
		return r, 0, false
	}
	each = math.Float64frombits(limit.Imm)
	if x.Op == ir.OpMul {
		rate, factor := a.named(x.A), a.named(x.B)
		if rate != nil && rate.Op == ir.OpConst {
			rate, factor = factor, rate
		}
		if rate == nil || factor == nil || factor.Op != ir.OpConst {
			return r, 0, false
		}
		x, each = rate, each/math.Float64frombits(factor.Imm)
	}
	if x.Op != ir.OpRead {
		return r, 0, false
	}
	r = a.reads[x.Index]
	return r, each, r.Stub == stubs.StateRate && each > 0
}
