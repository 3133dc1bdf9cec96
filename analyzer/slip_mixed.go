package analyzer

import (
	"fmt"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// mixed warns of names that an author lists with "or" in front of a condition that is about the
// last one only, because "and" binds tighter: name == "a" or name == "b" and queue.length > 9.
func (a *analysis) mixed() {
	a.p.Root.Any(func(n *ir.Node) bool {
		if n.Op != ir.OpOr || !a.plain(n) {
			return false
		}
		return a.distant(n.A, n.B, false) || a.distant(n.B, n.A, true)
	})
}

// distant warns of a chain of "and", without brackets, next to a name. behind is whether the name
// comes after the chain.
func (a *analysis) distant(beside, chain *ir.Node, behind bool) bool {
	if chain.Op != ir.OpAnd || !a.plain(chain) {
		return false
	}
	near, rest := chain.A, &ir.Node{Pos: chain.B.Pos, End: chain.End}
	for !behind && near.Op == ir.OpAnd && a.plain(near) {
		near, rest.Pos = near.A, near.B.Pos
	}
	if behind {
		near, rest = chain.B, chain.A
	}
	name, ok := a.namedIn(beside)
	if other, same := a.namedIn(near); !ok || !same || name != other || a.about(chain, near, name) {
		return false
	}
	x, y, cond := a.text(beside), a.text(near), a.text(rest)
	names, meant := fmt.Sprintf("(%s or %s) and %s", x, y, cond), fmt.Sprintf("%s or (%s and %s)", x, y, cond)
	if behind {
		names, meant = fmt.Sprintf("%s and (%s or %s)", cond, y, x), fmt.Sprintf("(%s and %s) or %s", cond, y, x)
	}
	a.warn(&ir.Node{Pos: min(beside.Pos, chain.Pos), End: max(beside.End, chain.End)}, fmt.Sprintf("write %s; or, if that is meant, %s", names, meant),
		"%s does not depend on %s: and binds tighter than or", x, cond)
	return true
}

// plain reports whether a condition of two operands stands without brackets; one that stands for a
// list or a range does not.
func (a *analysis) plain(n *ir.Node) bool {
	return n.Pos == n.A.Pos && n.A.End <= n.B.Pos && n.End == n.B.End
}

// namedIn returns the name that a condition compares with constants, and nothing else.
func (a *analysis) namedIn(n *ir.Node) (name string, ok bool) {
	if n.Op == ir.OpOr { // also a short list
		name, ok = a.namedIn(n.A)
		other, same := a.namedIn(n.B)
		return name, ok && same && name == other
	}
	for _, x := range []*ir.Node{n, n.A, n.B} {
		if x == nil || x.Op != ir.OpRead || n.Op != ir.OpEq && n.Op != ir.OpIn && x != n {
			continue
		}
		if r := a.reads[x.Index].Name(); r.Type == stubs.Name && !r.OfState() {
			return r.String(), true
		}
	}
	return "", false
}

// about reports whether the rest of a chain, without one of its parts, reads the name.
func (a *analysis) about(chain, part *ir.Node, name string) bool {
	if chain == part {
		return false
	}
	if chain.Op == ir.OpAnd {
		return a.about(chain.A, part, name) || a.about(chain.B, part, name)
	}
	g := grounds{}
	a.readsIn(chain, map[int]bool{}, &g)
	return g.about(func(r ir.Read) bool { return r.Name().String() == name })
}
