package analyzer

import (
	"cmp"
	"fmt"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// down are the notifications of a task on which a counter of tasks goes down: a task that has
// arrived has either a start and an exit, or a leave.
const down = stubs.Start | stubs.Ends

// drifts returns warnings about states that count tasks up on enqueue and miss some tasks on the
// way down. There is one for each state.
func drifts(members []Member) (all []Remark) {
	counts := countsOf(members)
	for _, m := range members {
		p := m.Verified.program
		for _, s := range p.Sites {
			on, missed, leaves := counts[m.own(s.Name)]&down, "waits", "leave"
			switch {
			case counts[m.own(s.Name)]&stubs.Enqueue == 0 || p.On&on == 0 || on&stubs.Leave != 0 && on != stubs.Leave:
				continue
			case on == stubs.Leave:
				missed, leaves = "has a slot", "exit"
			}
			n := m.effect(func(p *policy.Program, n *policy.Node) bool {
				return p.Sites[n.Index].Name == s.Name && countsBy(p, n) < 0
			})
			if n == nil {
				continue
			}
			all = append(all, m.remark(n, fmt.Sprintf("evaluate the policy on %v and %s", on, leaves),
				"the state %s goes up on enqueue and down on %v: a task that ends while it %s stays counted", s.Name, on, missed))
			delete(counts, m.own(s.Name))
		}
	}
	return all
}

// own distinguishes the private states of policies from each other.
func (m Member) own(state string) string {
	if _, private := m.Spec.State[state]; private {
		return m.Spec.Name + " " + state
	}
	return state
}

// countsOf returns, by state, the notifications of tasks on which the policies count it: up on
// enqueue, and down later.
func countsOf(members []Member) map[string]stubs.Event {
	counts := map[string]stubs.Event{}
	for _, m := range members {
		p := m.Verified.program
		if p.On&(stubs.Enqueue|down) == 0 {
			continue
		}
		p.Root.Any(func(n *policy.Node) bool {
			if n.Op != policy.OpEffect {
				return false
			}
			name := m.own(p.Sites[n.Index].Name)
			switch by := countsBy(p, n); {
			case by > 0:
				counts[name] |= p.On & stubs.Enqueue
			case by < 0:
				counts[name] |= p.On & down
			}
			return false
		})
	}
	return counts
}

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
