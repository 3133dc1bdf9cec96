package analyzer

import "github.com/cocoon-go/cocoon/policy"

// beyond warns of x in lo..hi if x is never as great as hi: of clock.weekday in 1..7, where the
// author takes 7 for Sunday. A range with a low bound below all values works as x <= hi.
func (r *review) beyond(n *policy.Node) {
	whole := func(part *policy.Node, op policy.Op) bool {
		return part != nil && part.Op == op && part.Pos == n.Pos && part.End == n.End
	}
	if n.Op != policy.OpAnd || !whole(n.A, policy.OpGe) || !whole(n.B, policy.OpLe) || r.values[n].truth.constant() {
		return
	}
	x, high := r.values[n.B.A], r.values[n.B.B]
	if x.ints.hi < high.ints.hi {
		r.warn(n, "", "%s goes up to %d, and %s is %d at most", r.text(n), high.ints.hi, r.text(n.B.A), x.ints.hi)
	}
}
