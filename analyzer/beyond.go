package analyzer

import "github.com/cocoon-go/cocoon/internal/ir"

// beyond warns of x in lo..hi if x is never as great as hi: of clock.weekday in 1..7, where the
// author takes 7 for Sunday. A range with a low bound below all values works as x <= hi.
func (r *review) beyond(n *ir.Node) {
	whole := func(part *ir.Node, op ir.Op) bool {
		return part != nil && part.Op == op && part.Pos == n.Pos && part.End == n.End
	}
	if n.Op != ir.OpAnd || !whole(n.A, ir.OpGe) || !whole(n.B, ir.OpLe) || r.a.values[n].truth.constant() {
		return
	}
	x, high := r.a.values[n.B.A], r.a.values[n.B.B]
	if x.ints.hi < high.ints.hi {
		r.a.warn(n, "", "%s goes up to %d, and %s is %d at most", r.a.text(n), high.ints.hi, r.a.text(n.B.A), x.ints.hi)
	}
}
