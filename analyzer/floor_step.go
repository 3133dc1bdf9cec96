package analyzer

import (
	"fmt"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// sinking returns warnings about states that an effect lowers by steps, far below 0 too, where that
// has no meaning: the state is a share, a limit of the load, or a count that only events move. It
// comes back above 0 only after as many steps up.
func sinking(members []Member) (all []Remark) {
	for _, m := range members {
		p := m.Verified.program
		a := newAnalysis(p, 0)
		a.statement(p.Root)
		p.Root.Any(func(n *ir.Node) bool {
			if n.Op != ir.OpEffect || !a.sinks(n) {
				return false
			}
			name := p.Sites[n.Index].Name
			if why := lowMeans(members, m, n); why != "" {
				least := "a condition, as in state." + name + " > 0"
				if p.Sites[n.Index].Effect == stubs.Set {
					least = fmt.Sprintf("max(%s, 0), or another least value", a.text(n.A))
				}
				all = append(all, m.remark(n, "write "+least,
					"%s lowers the state %s below 0 in the end, and %s", a.text(n), name, why))
			}
			return false
		})
	}
	return all
}

// sinks reports whether an effect lowers its state by a constant, even if the state is far below 0.
func (a *analysis) sinks(n *ir.Node) bool {
	site := a.p.Sites[n.Index]
	step := a.named(n.A)
	switch {
	case site.By != nil || !site.Type.Numeric() || step == nil:
		return false
	case site.Effect == stubs.Set && step.B != nil && a.named(step.B) != nil && a.named(step.B).Op == ir.OpConst:
		if _, shrinks := a.stepOf(step, site); !shrinks || step.Op != ir.OpAdd && step.Op != ir.OpSub {
			return false
		}
	case site.Effect == stubs.Add && step.Op == ir.OpConst:
		if v := a.values[n.A]; v.of == stubs.Float && v.floats.hi >= 0 || v.of.Integral() && v.ints.hi >= 0 {
			return false
		}
	default:
		return false
	}
	low := newAnalysis(a.p, 0)
	for _, r := range a.p.Reads {
		if r.Stub == stubs.State && r.Key == site.Name {
			v := floatValue(exactlyFloat(-float64(later)))
			if r.Type.Integral() {
				v = intValue(r.Type, exactly(-later))
			}
			low.facts.learn(low.facts.read(r), v)
		}
	}
	low.statement(a.p.Root)
	return low.reached[n]
}

// lowMeans says what policies do while the state that an effect lowers is below 0, if they can do
// nothing else then. A limit that add() lowers a little each time most likely has its balance, unless
// only tasks that are let in raise it again. A time that goes up and down may follow a quantile.
func lowMeans(members []Member, of Member, n *ir.Node) string {
	site := of.Verified.program.Sites[n.Index]
	name := site.Name
	if c := chanceOf(members, of, name); c != "" {
		return c + " holds for no task then"
	}
	if at := refusesAbove(members, of, name); at != "" && (site.Effect == stubs.Set || site.Type != stubs.Duration && countsOf(members)[of.own(name)].byAdmitted()) && !countsOf(members)[of.own(name)].ofTasks() {
		return at + " holds for all tasks then"
	}
	c := countsOf(members)[of.own(name)]
	if c == nil || !c.rises || !c.falls || slices.ContainsFunc(c.by, func(by counting) bool { return by.sign == 0 || by.m.Verified.program.On != stubs.Custom }) {
		return ""
	}
	at := ""
	inSome(members, of, name, func(a *analysis, n *ir.Node) bool {
		if n.Op != ir.OpGt && n.Op != ir.OpGe || a.slope(n, source{stubs.State, name}) != rising || !a.p.Root.Any(throws) {
			return false
		}
		at = a.text(n)
		return true
	})
	if at == "" {
		return ""
	}
	return at + " holds only after as many steps up"
}

// ofTasks reports whether policies count tasks from when they come until they end.
func (c *tally) ofTasks() bool {
	return c != nil && c.up&comes != 0 && c.down&stubs.Ends != 0
}

// byAdmitted reports whether tasks that have been let in change the state, and nothing else.
func (c *tally) byAdmitted() bool {
	const admitted = stubs.Start | stubs.Block | stubs.Unblock | stubs.Exit
	return c != nil && c.rises && c.falls && !c.moves && !c.other && !slices.ContainsFunc(c.by, func(by counting) bool {
		return by.m.Verified.program.On&^admitted != 0
	})
}

// chanceOf returns a chance() that follows a state, as a policy writes it; "" if there is none.
func chanceOf(members []Member, of Member, name string) (at string) {
	inSome(members, of, name, func(a *analysis, n *ir.Node) bool {
		if n.Op == ir.OpLt && n.A.Op == ir.OpRead && a.reads[n.A.Index].Stub == stubs.Draw && a.slope(n.B, source{stubs.State, name}) == rising {
			at = a.text(n)
		}
		return at != ""
	})
	return at
}

// chained returns warnings about moments that an effect moves on by a time span from the last
// moment, and that no effect sets by the clock, with which policies compare them.
func chained(members []Member) (all []Remark) {
	for _, m := range members {
		p := m.Verified.program
		if !slices.ContainsFunc(p.Sites, func(s ir.Site) bool { return s.Type == stubs.Duration && s.By == nil }) {
			continue
		}
		a := newAnalysis(p, 0)
		a.statement(p.Root)
		p.Root.Any(func(n *ir.Node) bool {
			if n.Op != ir.OpEffect || p.Sites[n.Index].Type != stubs.Duration {
				return false
			}
			span := a.named(n.A)
			if grows, _ := a.stepOf(cmpNode(span), p.Sites[n.Index]); p.Sites[n.Index].Effect == stubs.Set && grows && span.Op == ir.OpAdd {
				span = a.named(span.B)
			} else if p.Sites[n.Index].Effect != stubs.Add {
				return false
			}
			name := p.Sites[n.Index].Name
			if span != nil && span.Op == ir.OpConst && int64(span.Imm) > 0 && comparedWithClock(members, m, name) && !movedWithClock(members, m, name) {
				all = append(all, m.remark(n, fmt.Sprintf("write set(%q, runtime.uptime + %s)", name, a.text(span)),
					"%s goes on from the last value of the state %s, which policies compare with runtime.uptime: nothing sets it by the clock", a.text(n), name))
			}
			return false
		})
	}
	return all
}

// cmpNode returns n, or a node without operands for nil.
func cmpNode(n *ir.Node) *ir.Node {
	if n == nil {
		return &ir.Node{}
	}
	return n
}

// namesakes returns warnings about private states that a policy reads and does not write, where
// another policy writes a private state of the same name and first value: each has its own.
func namesakes(members []Member) (all []Remark) {
	for _, m := range members {
		p := m.Verified.program
		for _, r := range p.Reads {
			if _, private := m.Spec.State[r.Key]; r.Stub != stubs.State || r.By != nil || !private || writesOwn(m, r.Key) {
				continue
			}
			mine, err := m.declaration(r.Key, Declared{})
			i := slices.IndexFunc(members, func(o Member) bool {
				its, _ := o.declaration(r.Key, Declared{})
				_, private := o.Spec.State[r.Key]
				return private && o.Spec.Name != m.Spec.Name && its == mine && writesOwn(o, r.Key)
			})
			if err && i >= 0 {
				all = append(all, m.remark(m.readAt(r), "declare it once for both, in states", "the policy %q writes a private state %s of its own: nothing writes this one", members[i].Spec.Name, r.Key))
			}
		}
	}
	return all
}

func writesOwn(m Member, state string) bool {
	return slices.ContainsFunc(m.Verified.program.Sites, func(s ir.Site) bool { return s.Effect.Writes() && s.Name == state })
}
