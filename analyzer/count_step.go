package analyzer

import (
	"cmp"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// countsBy returns the sign of what the effect n adds to its state, by add() or by
// set("n", state.n + 1). It returns 0 if the sign is unknown, or n does something else.
func countsBy(p *ir.Program, n *ir.Node) int {
	effect := p.Sites[n.Index].Effect
	if effect != stubs.Add && effect != stubs.Set {
		return 0
	}
	c := counter{p: p, state: p.Sites[n.Index].Name, locals: map[int]step{}}
	p.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpLet { // step has handled the lets in its value
			c.locals[n.Index] = c.step(n.A)
		}
		return false
	})
	by := c.step(n.A)
	if effect == stubs.Set && !by.relative {
		return 0
	}
	if effect == stubs.Add && by.sign == 0 {
		return signOf(p, n)
	}
	return by.sign
}

// signOf returns the sign of what an add() adds, by the range of the values: of max(task.priority,
// 1) it is 1.
func signOf(p *ir.Program, n *ir.Node) int {
	a := newAnalysis(p, 0)
	a.statement(p.Root)
	switch v := a.values[n.A]; {
	case v.of.Integral() && v.ints.lo > 0, v.of == stubs.Float && v.floats.lo > 0:
		return 1
	case v.of.Integral() && v.ints.hi < 0, v.of == stubs.Float && v.floats.hi < 0:
		return -1
	}
	return 0
}

// counter finds out how the new value of a state differs from the old one.
type counter struct {
	p      *ir.Program
	state  string
	locals map[int]step
}

// step is the sign of a number or, if it is computed from the state, the sign of its difference
// from the state. The sign is 0 if it is not known.
type step struct {
	sign     int
	relative bool
}

func (c *counter) step(n *ir.Node) step {
	switch n.Op {
	case ir.OpConst:
		// of a float, too: the sign is the first bit
		return step{sign: cmp.Compare(int64(n.Imm), 0)}
	case ir.OpRead:
		return c.read(n)
	case ir.OpLocal:
		return c.locals[n.Index]
	case ir.OpLet:
		c.locals[n.Index] = c.step(n.A)
		return c.step(n.B)
	case ir.OpNeg:
		s := c.step(n.A)
		return step{-s.sign, s.relative}
	case ir.OpAdd, ir.OpSub:
		a, b := c.step(n.A), c.step(n.B)
		if n.Op == ir.OpSub {
			b.sign = -b.sign
		}
		sum := step{cmp.Or(a.sign, b.sign), a.relative || b.relative}
		if a.sign*b.sign < 0 {
			sum.sign = 0
		}
		return sum
	case ir.OpIf:
		return c.branch(n.B, n.C)
	case ir.OpMin, ir.OpMax:
		s, a, b := c.branch(n.A, n.B), c.step(n.A), c.step(n.B)
		if up := n.Op == ir.OpMax; s == (step{}) && !a.relative && !b.relative && (up && max(a.sign, b.sign) > 0 || !up && min(a.sign, b.sign) < 0) {
			return step{sign: map[bool]int{true: 1, false: -1}[up]}
		}
		return s
	case ir.OpFloat, ir.OpRetype:
		return c.step(n.A)
	case ir.OpMul:
		if a, b := c.step(n.A), c.step(n.B); !a.relative && !b.relative {
			return step{sign: a.sign * b.sign}
		}
	}
	return step{}
}

// branch returns the step of the alternative that changes the state, as in max(state.n - 1, 0); or
// the sign of both alternatives, as in clamp(queue.length, 1, 3).
func (c *counter) branch(one, other *ir.Node) step {
	for _, n := range []*ir.Node{one, other} {
		if s := c.step(n); s.relative && s.sign != 0 {
			return s
		}
	}
	if a, b := c.step(one), c.step(other); !a.relative && !b.relative && a.sign == b.sign {
		return a
	}
	return step{}
}

// read returns the step of a read: 0 of the state itself, and else the sign of the stub.
func (c *counter) read(n *ir.Node) step {
	for _, r := range c.p.Reads {
		switch {
		case r.Offset != n.Index:
		case r.Stub == stubs.State && r.Key == c.state:
			return step{relative: true}
		case r.Stub < stubs.State && r.Type != stubs.Name && stubs.Catalogue[r.Stub].Min >= 0:
			return step{sign: 1}
		}
	}
	return step{}
}
