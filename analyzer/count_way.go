package analyzer

import (
	"fmt"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// oneWay warns of a count that only goes up, or only down, and is compared with a number that it
// passes for good.
func (c *tally) oneWay(members []Member, d Declared) []Remark {
	by, way := c.by[0], "up"
	if c.falls {
		way = "down"
	}
	name := by.state()
	if strict := c.stricter(members); strict != nil && !c.idle() {
		return strict
	}
	if c.saturates() || c.idle() {
		return nil
	}
	if c.windowed(d) {
		return c.shorter(members, d)
	}
	written := countsOf(members)
	for _, m := range members {
		if m.own(name) != by.m.own(name) || by.expires(d) && !c.arrivals(m) && !c.spending(m) {
			continue
		}
		if n := m.compared(name, func(state string) bool { return written[m.own(state)] == nil }); n != nil {
			if s, _ := by.declaration(d); s.TTL > 0 {
				return []Remark{m.remark(n, c.windowHint(m, s.TTL),
					"a ttl is not a window: the state %s keeps a key until no task has written it for %v, so %s is decided some day for tasks that come more often", name, s.TTL, m.text(n))}
			}
			if !c.falls && m.nextToRate(n, name) {
				continue
			}
			return []Remark{m.remark(n, "let a policy bring it back, or compare rate()",
				"the state %s only goes %s, so %s is decided for good some day", name, way, m.text(n))}
		}
	}
	return nil
}

// nextToRate reports whether a comparison of a state stands next to one of its rate, as in
// rate("failed", duration("1m")) > 1.0 and state.failed >= 5. It is then about the first window
// alone, in which a rate may be one of few events, and is true for good afterwards.
func (m Member) nextToRate(n *ir.Node, state string) bool {
	p := m.Verified.program
	a := newAnalysis(p, 0)
	rated := func(side *ir.Node) (yes bool) {
		a.operations(side, map[int]bool{}, func(x *ir.Node) {
			yes = yes || x.Op == ir.OpRead && a.reads[x.Index].Stub == stubs.StateRate && a.reads[x.Index].Key == state
		})
		return yes
	}
	has := func(side *ir.Node) (yes bool) {
		a.operations(side, map[int]bool{}, func(x *ir.Node) { yes = yes || x == n })
		return yes
	}
	return p.Root.Any(func(x *ir.Node) bool {
		return x.Op == ir.OpAnd && (has(x.A) && rated(x.B) || has(x.B) && rated(x.A))
	})
}

// arrivals reports whether only arriving tasks raise the count, in a policy that refuses them.
func (c *tally) arrivals(m Member) bool {
	return c.up == stubs.Enqueue && c.rises && !c.other && m.Verified.program.On == stubs.Enqueue && m.Verified.program.Root.Any(throws) &&
		slices.ContainsFunc(c.by, func(by counting) bool { return !by.refused() })
}

// refused reports whether the effect counts tasks that its policy refuses in any case. A key of
// such a count expires when its tasks are no longer refused, as its author means.
func (c counting) refused() (yes bool) {
	c.m.Verified.program.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpSeq && n.Type == stubs.Verdict && n.A.Any(func(n *ir.Node) bool { return n == c.effect }) {
			yes = !n.B.Any(func(n *ir.Node) bool { return n.Op == ir.OpVerdict && !throws(n) })
		}
		return yes
	})
	return yes
}

// spending reports whether the count is the time that tasks have taken, and m refuses tasks. A
// count of failures ends when its tasks are refused, and its key then expires, as its author means.
func (c *tally) spending(m Member) bool {
	if c.up == 0 || c.up&^stubs.Ends != 0 || !c.rises || c.other || m.Verified.program.On != stubs.Enqueue || !m.Verified.program.Root.Any(throws) {
		return false
	}
	return !slices.ContainsFunc(c.by, func(by counting) bool {
		a, g, own := newAnalysis(by.m.Verified.program, 0), grounds{}, source{stubs.State, by.state()}
		a.readsIn(by.effect.A, map[int]bool{}, &g)
		return !g.about(isSpan) || g.about(func(r ir.Read) bool { return !isSpan(r) && !own.reads(r) })
	})
}

// saturates reports whether the policies themselves stop counting at a number, as in
// state.n < 100 ? add("n", 1) : continue(). Such a count is meant to be decided some day.
func (c *tally) saturates() bool {
	return !slices.ContainsFunc(c.by, func(by counting) bool {
		f := c.follow(by, property{stub: stubs.Draw}, "")
		f.statement(by.m.Verified.program.Root)
		return !f.bounded || by.m.Verified.program.Root.Any(throws)
	})
}

// idle reports whether no effect changes the state, because of the events of the policies.
func (c *tally) idle() bool {
	return !slices.ContainsFunc(c.by, func(by counting) bool {
		a := newAnalysis(by.m.Verified.program, 0)
		a.lenient = true
		a.learnEvents()
		a.statement(a.p.Root)
		return !a.nothing(by.effect)
	})
}

// latched warns of a state that all effects set to one constant, and that another policy reads:
// nothing sets it back. Of the states with keys only flags count that are kept without a ttl.
func (c *tally) latched(members []Member, d Declared) []Remark {
	by, value := c.by[0], c.by[0].effect.A
	s, ok := by.declaration(d)
	if ok && value.Op == ir.OpConst && value.Imm == s.First {
		return nil // Idle has a warning
	}
	for _, other := range c.by {
		site := other.m.Verified.program.Sites[other.effect.Index]
		if site.Effect != stubs.Set || site.By != nil && (!ok || s.Type != stubs.Bool || s.TTL > 0) || value.Op != ir.OpConst || other.effect.A.Op != ir.OpConst || other.effect.A.Imm != value.Imm {
			return nil
		}
	}
	reader := slices.ContainsFunc(members, func(m Member) bool { return m.Spec.Name != by.m.Spec.Name && m.readOf(by.state()) != nil })
	if !reader || by.m.own(by.state()) != by.state() {
		return nil
	}
	hint := "let a policy set it back"
	if s.Keys > 0 {
		hint = "let a policy set it back, or declare a ttl, after which a key that nothing writes is forgotten"
	}
	clock := func(m Member) bool {
		return m.readOf(by.state()) != nil && slices.ContainsFunc(m.Verified.program.Reads, source{stub: stubs.RuntimeUptime}.reads)
	}
	if value.Type == stubs.Duration && slices.ContainsFunc(members, clock) { // instead of a moment
		hint = fmt.Sprintf("write set(%q, runtime.uptime + %s)", by.state(), by.m.text(value))
	}
	return []Remark{by.m.remark(by.effect, hint, "%s is all that policies do with the state %s: nothing sets it back", by.m.text(by.effect), by.state())}
}

// expires reports whether the keys of the counted state end by themselves.
func (c counting) expires(d Declared) bool {
	s, _ := c.declaration(d)
	return s.TTL > 0
}

func (m Member) text(n *ir.Node) string { return (&analysis{p: m.Verified.program}).text(n) }

// compared returns a comparison that a state decides some day if it only rises, or only falls: the
// other numbers in it are constants, the slots of the loop, or fixed states.
func (m Member) compared(state string, fixed func(state string) bool) (found *ir.Node) {
	a := newAnalysis(m.Verified.program, 0)
	of := source{stubs.State, state}
	if !slices.ContainsFunc(a.p.Reads, of.reads) {
		return nil
	}
	a.statement(a.p.Root)
	ofMax := lowered(a.p.Root)
	a.p.Root.Any(func(n *ir.Node) bool {
		switch n.Op {
		case ir.OpLt, ir.OpLe, ir.OpGt, ir.OpGe:
			if s := a.slope(n, of); (s == rising || s == falling) && !ofMax[n] && (!a.moves(n, state, fixed) || a.passes(n, of, s)) {
				found = n
			}
		}
		return found != nil
	})
	return found
}

// moves reports whether a comparison with a state follows other states that change, time, load or
// chance.
func (a *analysis) moves(n *ir.Node, state string, fixed func(state string) bool) bool {
	g := grounds{}
	a.readsIn(n, map[int]bool{}, &g)
	return g.about(func(r ir.Read) bool {
		return r.Stub != stubs.LoopSlots && !(r.Stub == stubs.State && (r.Key == state || fixed(r.Key)))
	})
}

// maxLimit is the greatest number that a count passes some day.
const maxLimit = 1 << 20

// passes reports whether one side of a comparison is the state, and the other has a greatest value
// although it moves, as a limit of the hour has.
func (a *analysis) passes(n *ir.Node, of source, s slope) bool {
	x, limit := n.A, n.B
	if greater := n.Op == ir.OpGt || n.Op == ir.OpGe; greater != (s == rising) {
		x, limit = limit, x
	}
	v := a.values[limit]
	return x.Op == ir.OpRead && of.reads(a.reads[x.Index]) && v.of == stubs.Int && v.ints.hi < maxLimit
}
