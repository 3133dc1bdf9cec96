package analyzer

import (
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// lives are the events of a task's life, for each way in which a task may live.
var lives = []struct {
	does   string
	events stubs.Event
}{
	{"ends while it has a slot", stubs.Enqueue | stubs.Start | stubs.Exit},
	{"ends while it waits", stubs.Enqueue | stubs.Leave},
	{"blocks", stubs.Enqueue | stubs.Start | stubs.Block | stubs.Unblock | stubs.Exit},
}

const (
	comes = stubs.Enqueue | stubs.Start // the events on which a task begins to count
	life  = comes | stubs.Block | stubs.Unblock | stubs.Ends
)

// tally is a state that policies count tasks in.
type tally struct {
	up, down stubs.Event // on which it goes up, and down
	by       []counting
	one      float64 // the only number by which it changes; NaN if there are several
	other    bool    // something else changes the state, so it is not a plain count
	rises    bool    // some effect makes it greater
	falls    bool    // some effect makes it less
	moves    bool    // some effect gives it any value
}

// counting is an effect that counts.
type counting struct {
	m      Member
	effect *ir.Node
	sign   int
	bound  bool // max("n", 0) stands next to add("n", -1), or min("n", 10) next to add("n", 1)
}

// drifts returns warnings about states that count tasks and miss some of them on the way up or
// down. There is at most one for each state.
func drifts(members []Member, d Declared) (all []Remark) {
	counts := countsOf(members)
	for _, state := range slices.Sorted(maps.Keys(counts)) {
		c := counts[state]
		lowered := c.lowered(d)
		c = c.unbound(d)
		switch {
		case lowered != nil:
			all = append(all, lowered...)
		case !c.moves && c.rises != c.falls:
			all = append(all, c.oneWay(members, d)...)
		case c.moves:
			all = append(all, c.latched(members, d)...)
		case c.other || c.up&c.down != 0 || c.up == 0 || c.down == 0:
		case !c.pairs(), c.down == stubs.Leave && c.by[0].expires(d): // a returned quota
		default:
			for _, look := range []func() []Remark{
				func() []Remark { return c.forgotten(d) }, func() []Remark { return c.apart(d) }, func() []Remark { return c.full(d) }, c.drift,
				func() []Remark { return c.refusedLater(members) }, func() []Remark { return c.unequal(members) }, func() []Remark { return c.uneven(members) },
			} {
				if drift := look(); drift != nil {
					all = append(all, drift...)
					break
				}
			}
		}
	}
	return all
}

// pairs reports whether up and down may be meant for the same tasks: some task has both, or one is
// about tasks that come and the other about tasks that end. A limit that goes up on exit and down
// on leave is not a count.
func (c *tally) pairs() bool {
	for _, l := range lives {
		if l.events&c.up != 0 && l.events&c.down != 0 {
			return true
		}
	}
	return c.up&^comes == 0 && c.down&^stubs.Ends == 0 || c.down&^comes == 0 && c.up&^stubs.Ends == 0
}

// drift warns of tasks counted up more often than down, or the reverse.
func (c *tally) drift() []Remark {
	first := c.first()
	for _, l := range lives {
		up, down := l.events&c.up, l.events&c.down
		sum := (bits.OnesCount16(uint16(up)) - bits.OnesCount16(uint16(down))) * first
		if sum == 0 || up != 0 && down != 0 && math.IsNaN(c.one) {
			continue
		}
		at, hint := c.last(-first), ""
		text := "is taken off, and was never counted"
		switch {
		case up != 0 && down != 0 && sum < 0:
			text = "is taken off more often than it is counted"
		case sum > 0:
			text = "stays counted"
		}
		if missing := l.events & stubs.Ends; sum > 0 && at.m.Verified.program.On&missing == 0 {
			hint = fmt.Sprintf("evaluate the policy on %v and %v", at.m.Verified.program.On, missing)
		}
		if sum < 0 {
			hint = "count tasks on enqueue and exit+leave, or on start and exit"
		}
		return []Remark{at.m.remark(at.effect, hint, "the state %s goes up on %v and down on %v: a task that %s %s",
			at.state(), c.up, c.down, l.does, text)}
	}
	return nil
}

// state returns the name of the counted state.
func (c counting) state() string { return c.m.Verified.program.Sites[c.effect.Index].Name }

// last returns the last effect with the sign.
func (c *tally) last(sign int) (found counting) {
	for _, by := range c.by {
		if by.sign == sign {
			found = by
		}
	}
	return found
}

// own distinguishes the private states of policies from each other.
func (m Member) own(state string) string {
	if _, private := m.Spec.State[state]; private {
		return m.Spec.Name + " " + state
	}
	return state
}

// countsOf returns the counts of tasks, by state.
func countsOf(members []Member) map[string]*tally {
	counts := map[string]*tally{}
	for _, m := range members {
		p := m.Verified.program
		p.Root.Any(func(n *ir.Node) bool {
			if (n.Op != ir.OpEffect && n.Op != ir.OpTake) || !p.Sites[n.Index].Effect.Writes() {
				return false
			}
			name := m.own(p.Sites[n.Index].Name)
			c := counts[name]
			if c == nil {
				c = &tally{}
				counts[name] = c
			}
			c.add(counting{m: m, effect: n, sign: countsBy(p, n)})
			return false
		})
	}
	return counts
}

func (c *tally) add(by counting) {
	p := by.m.Verified.program
	number := math.NaN()
	if site := p.Sites[by.effect.Index]; site.Effect == stubs.Add && by.effect.A.Op == ir.OpConst {
		number = math.Abs(float64(int64(by.effect.A.Imm)))
		if site.Type == stubs.Float {
			number = math.Abs(math.Float64frombits(by.effect.A.Imm))
		}
	}
	if len(c.by) == 0 {
		c.one = number
	} else if c.one != number {
		c.one = math.NaN()
	}
	c.by = append(c.by, by)
	switch effect := by.extreme(p.Sites[by.effect.Index].Effect); {
	case by.sign > 0, effect == stubs.Max:
		c.rises = true
	case by.sign < 0, effect == stubs.Min:
		c.falls = true
	default:
		c.moves = true
	}
	switch {
	case by.sign == 0 || p.On&^life != 0:
		c.other = true
	case by.sign > 0:
		c.up |= p.On
	default:
		c.down |= p.On
	}
}
