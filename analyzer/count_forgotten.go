package analyzer

import (
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// shortLife is the time to live under which counted tasks are likely to outlive their key.
const shortLife = 10 * time.Second

// forgotten warns of a count of tasks whose keys expire soon after the last write: the tasks are
// then taken off a new count, which falls below 0.
func (c *tally) forgotten(d Declared) []Remark {
	by := c.by[0]
	s, ok := by.declaration(d)
	if !ok || s.TTL == 0 || s.TTL >= shortLife || c.up&comes == 0 || c.down&stubs.Ends == 0 {
		return nil
	}
	return []Remark{by.m.remark(by.effect, "leave ttl out, or make it longer than any task",
		"the state %s forgets a key %v after its last write: a task that is there longer is taken off a new count", by.state(), s.TTL)}
}

// extreme returns Max for set("n", max(state.n, x)), which does what max("n", x) does, Min for
// the same with min, and otherwise the effect.
func (by counting) extreme(effect stubs.Effect) stubs.Effect {
	p := by.m.Verified.program
	n := by.effect.A
	if effect != stubs.Set || n == nil || p.Sites[by.effect.Index].By != nil {
		return effect
	}
	isState := func(n *ir.Node) bool {
		return n.Op == ir.OpRead && slices.ContainsFunc(p.Reads, func(r ir.Read) bool {
			return r.Offset == n.Index && r.Stub == stubs.State && r.By == nil && r.Key == p.Sites[by.effect.Index].Name
		})
	}
	x, y := n.A, n.B
	if n.Op == ir.OpIf && isLowered(n) {
		x, y = n.B, n.C
	}
	greatest := n.Op == ir.OpMax || n.Op == ir.OpIf && isLowered(n) && n.A.Op == ir.OpGt
	switch least := n.Op == ir.OpMin || n.Op == ir.OpIf && isLowered(n) && n.A.Op == ir.OpLt; {
	case !greatest && !least, !isState(x) && !isState(y), x.Op == ir.OpConst || y.Op == ir.OpConst:
		return effect
	case greatest:
		return stubs.Max
	}
	return stubs.Min
}
