package analyzer

import (
	"cmp"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// countsBy returns the sign of what the effect n adds to its state, by add() or by
// set("n", state.n + 1). It returns 0 if the sign is unknown, or n does something else.
func countsBy(p *policy.Program, n *policy.Node) int {
	effect := p.Sites[n.Index].Effect
	if effect != stubs.Add && effect != stubs.Set {
		return 0
	}
	c := counter{p: p, state: p.Sites[n.Index].Name, locals: map[int]step{}}
	p.Root.Any(func(n *policy.Node) bool {
		if n.Op == policy.OpLet { // step has handled the lets in its value
			c.locals[n.Index] = c.step(n.A)
		}
		return false
	})
	by := c.step(n.A)
	if effect == stubs.Set && !by.relative {
		return 0
	}
	return by.sign
}

// counter finds out how the new value of a state differs from the old one.
type counter struct {
	p      *policy.Program
	state  string
	locals map[int]step
}

// step is the sign of a number or, if it is computed from the state, the sign of its difference
// from the state. The sign is 0 if it is not known.
type step struct {
	sign     int
	relative bool
}

func (c *counter) step(n *policy.Node) step {
	switch n.Op {
	case policy.OpConst:
		// of a float, too: the sign is the first bit
		return step{sign: cmp.Compare(int64(n.Imm), 0)}
	case policy.OpRead:
		return c.read(n)
	case policy.OpLocal:
		return c.locals[n.Index]
	case policy.OpLet:
		c.locals[n.Index] = c.step(n.A)
		return c.step(n.B)
	case policy.OpNeg:
		s := c.step(n.A)
		return step{-s.sign, s.relative}
	case policy.OpAdd, policy.OpSub:
		a, b := c.step(n.A), c.step(n.B)
		if n.Op == policy.OpSub {
			b.sign = -b.sign
		}
		sum := step{cmp.Or(a.sign, b.sign), a.relative || b.relative}
		if a.sign*b.sign < 0 {
			sum.sign = 0
		}
		return sum
	case policy.OpIf:
		return c.branch(n.B, n.C)
	case policy.OpMin, policy.OpMax:
		return c.branch(n.A, n.B)
	}
	return step{}
}

// branch returns the step of the alternative that changes the state, as in max(state.n - 1, 0).
func (c *counter) branch(one, other *policy.Node) step {
	for _, n := range []*policy.Node{one, other} {
		if s := c.step(n); s.relative && s.sign != 0 {
			return s
		}
	}
	return step{}
}

// read returns the step of a read: 0 of the state itself, and else the sign of the stub.
func (c *counter) read(n *policy.Node) step {
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
