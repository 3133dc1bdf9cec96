package analyzer

import (
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// oneRead warns of a comparison both sides of which are computed from one read and nothing else, as
// rate("bad") > rate("bad") * 0.1: one of them most likely means another stub or state.
func (a *analysis) oneRead(n *ir.Node) {
	switch {
	case n.Op == ir.OpEq || n.Op == ir.OpNe: // x == x asks whether x is NaN
		return
	case !strings.ContainsAny(a.text(n), "<>") || a.values[n].truth.constant(): // max compares, too
		return
	}
	x, y := map[int]bool{}, map[int]bool{}
	a.readsOf(n.A, x)
	a.readsOf(n.B, y)
	at, one := sole(x)
	other, both := sole(y)
	if one && both && at == other && a.reads[at].Type.Numeric() && a.reads[at].Stub != stubs.Draw {
		a.warn(n, "compare it with another stub, or with a number", "both sides of %s are about %v alone", a.text(n), a.reads[at])
	}
}

// sole returns the only read among offsets; locals are below 0.
func sole(offsets map[int]bool) (at int, ok bool) {
	n := 0
	for offset := range offsets {
		if offset >= 0 {
			at, n = offset, n+1
		}
	}
	return at, n == 1
}

// readsOf adds the offsets of what an expression reads, directly or through lets. A local that it
// has followed adds -1 less its number.
func (a *analysis) readsOf(n *ir.Node, offsets map[int]bool) {
	n.Any(func(n *ir.Node) bool {
		switch n.Op {
		case ir.OpRead:
			offsets[n.Index] = true
		case ir.OpLocal:
			if local := -1 - n.Index; !offsets[local] {
				offsets[local] = true // so that a chain of lets is followed once
				a.readsOf(a.lets()[n.Index], offsets)
			}
		}
		return false
	})
}
