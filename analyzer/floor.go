package analyzer

import (
	"fmt"
	"math"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// floors returns warnings about limits of the load that an effect halves, or lowers by another
// share, without a least value: at 0 the policy refuses all tasks, and none ends that raises it. It
// also returns warnings about limits that an effect doubles without a greatest value.
func floors(members []Member, d Declared) (all []Remark) {
	for _, m := range members {
		a := newAnalysis(m.Verified.program, 0)
		a.statement(a.p.Root)
		a.p.Root.Any(func(n *ir.Node) bool {
			if n.Op != ir.OpEffect || a.p.Sites[n.Index].Effect != stubs.Set || a.p.Sites[n.Index].By != nil {
				return false
			}
			name, factor := a.p.Sites[n.Index].Name, a.factor(n)
			if at := refusesAbove(members, m, name); at != "" && factor > 1 {
				all = append(all, m.remark(n, fmt.Sprintf("write min(%s, 1000), or another greatest value", a.text(n.A)),
					"%s raises the state without end, and %s then holds for no task", a.text(n), at))
			} else if at != "" && 0 < factor && factor < 1 {
				all = append(all, m.remark(n, fmt.Sprintf("write max(%s, 1), or another least value", a.text(n.A)),
					"%s lowers the state to 0 in the end, and %s then holds for all tasks", a.text(n), at))
			}
			return false
		})
	}
	return all
}

// factor returns the constant by which an effect multiplies its state; 0 if it does something else.
func (a *analysis) factor(n *ir.Node) float64 {
	x := a.named(n.A)
	if x == nil || x.Op != ir.OpDiv && x.Op != ir.OpMul {
		return 0
	}
	state, by := a.named(x.A), a.named(x.B)
	if x.Op == ir.OpMul && state != nil && state.Op == ir.OpConst {
		state, by = by, state
	}
	if state == nil || by == nil || state.Op != ir.OpRead || by.Op != ir.OpConst {
		return 0
	}
	r := a.reads[state.Index]
	if r.Stub != stubs.State || r.Key != a.p.Sites[n.Index].Name {
		return 0
	}
	share := float64(int64(by.Imm))
	if by.Type == stubs.Float {
		share = math.Float64frombits(by.Imm)
	}
	if x.Op == ir.OpDiv {
		share = 1 / share
	}
	return share
}

// refusesAbove returns the comparison by which a policy on enqueue refuses tasks while the load is
// above the state, as it writes it; "" if there is none.
func refusesAbove(members []Member, of Member, name string) string {
	for _, m := range members {
		if m.own(name) != of.own(name) || m.Verified.program.On != stubs.Enqueue || !m.Verified.program.Root.Any(throws) {
			continue
		}
		a := newAnalysis(m.Verified.program, 0)
		a.statement(a.p.Root)
		if n := a.limitOfLoad(source{stubs.State, name}); n != nil {
			return m.text(n)
		}
	}
	return ""
}
