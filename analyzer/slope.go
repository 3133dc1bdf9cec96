package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// slope says how an expression follows a stub.
type slope int8

const (
	flat   slope = iota
	rising       // greater, or the same, when the stub is greater
	falling
	mixed
)

func (s slope) reversed() slope {
	switch s {
	case rising:
		return falling
	case falling:
		return rising
	}
	return s
}

// and returns the slope of an expression that rises with either of two.
func (s slope) and(t slope) slope {
	switch {
	case s == t, t == flat:
		return s
	case s == flat:
		return t
	}
	return mixed
}

// source is the value with a slope: a stub or, with a name, a state.
type source struct {
	stub  stubs.ID
	state string
}

func (s source) reads(r ir.Read) bool {
	return r.Stub == s.stub && (s.state == "" || r.Key == s.state)
}

// localSource is a local and a source that it may follow.
type localSource struct {
	local int
	source
}

// slope returns how n follows a number or a condition, for all values of the other reads. A
// condition counts as greater when it is true.
func (a *analysis) slope(n *ir.Node, of source) slope {
	if n == nil {
		return flat
	}
	switch n.Op {
	case ir.OpRead:
		if r := a.reads[n.Index]; of.reads(r) && (r.Type.Numeric() || r.Type == stubs.Bool) {
			return rising
		}
		return flat
	case ir.OpLocal:
		key := localSource{n.Index, of}
		s, known := a.slopes[key]
		if !known {
			s = a.slope(a.named(n), of)
			a.slopes[key] = s
		}
		return s
	case ir.OpLet:
		return a.slope(n.B, of)
	case ir.OpNeg, ir.OpNot:
		return a.slope(n.A, of).reversed()
	case ir.OpFloat, ir.OpRetype, ir.OpInt, ir.OpSqrt:
		return a.slope(n.A, of)
	case ir.OpAdd, ir.OpMin, ir.OpMax, ir.OpAnd, ir.OpOr:
		return a.slope(n.A, of).and(a.slope(n.B, of))
	case ir.OpSub, ir.OpGt, ir.OpGe:
		return a.slope(n.A, of).and(a.slope(n.B, of).reversed())
	case ir.OpLt, ir.OpLe:
		return a.slope(n.B, of).and(a.slope(n.A, of).reversed())
	case ir.OpMul:
		return a.scaled(n.A, n.B, of).and(a.scaled(n.B, n.A, of))
	case ir.OpDiv:
		by := a.slope(n.B, of)
		if by == flat {
			return a.scaled(n.A, n.B, of)
		}
		if a.atLeast0(n.A) && a.atLeast0(n.B) {
			return a.slope(n.A, of).and(by.reversed())
		}
		return mixed
	case ir.OpIf:
		if isLowered(n) || a.slope(n.A, of) == flat {
			return a.slope(n.B, of).and(a.slope(n.C, of))
		}
		return mixed
	case ir.OpEq:
		return a.atLeast(n, of)
	case ir.OpNe:
		return a.atLeast(n, of).reversed()
	}
	if a.slope(n.A, of) != flat || a.slope(n.B, of) != flat {
		return mixed
	}
	return flat
}

// atLeast returns the slope of an equation: it falls if it asks for the least value of a stub, as
// queue.length == 0.
func (a *analysis) atLeast(n *ir.Node, of source) slope {
	x, y := a.slope(n.A, of), a.slope(n.B, of)
	read, least := a.named(n.A), a.named(n.B)
	switch {
	case x == flat && y == flat:
		return flat
	case x == rising && read.Op == ir.OpRead && least.Op == ir.OpConst && read.Type.Integral() &&
		int64(least.Imm) == readValue(a.reads[read.Index]).ints.lo:
		return falling
	}
	return mixed
}

// scaled returns the slope of x times y, or of x by y, as far as it comes from x.
func (a *analysis) scaled(x, y *ir.Node, of source) slope {
	s, v := a.slope(x, of), a.values[y]
	least, most := v.floats.lo, v.floats.hi
	if v.of.Integral() {
		least, most = float64(v.ints.lo), float64(v.ints.hi)
	}
	switch {
	case s == flat, v.of != stubs.Invalid && least >= 0:
		return s
	case v.of != stubs.Invalid && most <= 0:
		return s.reversed()
	}
	return mixed
}

// atLeast0 reports whether a number is never negative.
func (a *analysis) atLeast0(n *ir.Node) bool {
	v := a.values[n]
	return v.of == stubs.Float && v.floats.lo >= 0 || v.of.Integral() && v.ints.lo >= 0
}

// named returns the value of a local that a let binds, or nil; of another operation itself.
func (a *analysis) named(n *ir.Node) *ir.Node {
	for n != nil && n.Op == ir.OpLocal {
		n = a.lets()[n.Index]
	}
	return n
}

// lets returns the values of the locals that lets bind.
func (a *analysis) lets() map[int]*ir.Node {
	if a.letsOf == nil {
		a.letsOf = map[int]*ir.Node{}
		a.p.Root.Any(func(n *ir.Node) bool {
			if n.Op == ir.OpLet {
				a.letsOf[n.Index] = n.A
			}
			return false
		})
	}
	return a.letsOf
}
