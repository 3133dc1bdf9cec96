package analyzer

import (
	"fmt"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
	"github.com/cocoon-go/cocoon/stubs"
)

// Loop is a loop of a server.
type Loop struct {
	Name  string
	Slots int
}

// OnSlots returns a warning about a policy with a condition that, because of a number of slots,
// holds on one of the loops as if it had much to do: loop.busy >= loop.slots - 2 is always true on
// a loop of two slots. It also returns one if the numbers of slots of all loops keep the policy
// from one of its acts, as loop.busy > 3 does. loops are the loops on which the policy is
// evaluated. A condition on nothing but the number of slots gets no warning: its author has thought
// of these loops.
func OnSlots(m Member, loops []Loop) *Remark {
	p := m.Verified.program
	about := func(r ir.Read) bool { return r.Stub == stubs.LoopSlots || r.Stub == stubs.LoopBusy }
	if m.Spec.Mode == policy.Off || !slices.ContainsFunc(p.Reads, about) {
		return nil
	}
	var idle *Remark
	idles, told := true, map[int]bool{}
	for _, l := range loops {
		if told[l.Slots] {
			continue
		}
		told[l.Slots] = true
		n, always, loaded := m.decidedBySlots(l.Slots)
		if n == nil {
			idles = false
			continue
		}
		r := Remark{document.Part{Kind: "policy", Name: m.Spec.Name}, p.Errorf(n, hintOfSlots(p),
			"%s is always %v on the loop %q, which has %s", m.text(n), always, l.Name, slotsOf(l.Slots))}
		if loaded {
			return &r
		}
		if idle == nil {
			idle = &r
		}
	}
	if idles {
		return idle
	}
	return nil
}

// fewSlots is how many slots of a loop are still few.
const fewSlots = 3

// OnFewSlots returns a warning about a condition that holds on loops of few slots as if they had
// much to do, for a reader who does not know the loops of the server: queue.length > loop.slots / 3
// is queue.length > 0 on a loop of 2 slots.
func OnFewSlots(members []Member) (all []Remark) {
	for _, m := range members {
		p := m.Verified.program
		if m.Spec.Mode == policy.Off || !slices.ContainsFunc(p.Reads, func(r ir.Read) bool { return r.Stub == stubs.LoopSlots }) {
			continue
		}
		for slots := fewSlots; slots > 0; slots-- {
			if n, always, loaded := m.decidedBySlots(slots); loaded {
				all = append(all, m.remark(n, hintOfSlots(p), "%s is always %v on a loop that has %s", m.text(n), always, slotsOf(slots)))
				break
			}
		}
	}
	return all
}

func hintOfSlots(p *ir.Program) string {
	if slices.ContainsFunc(p.Reads, func(r ir.Read) bool { return r.Stub == stubs.LoopSlots }) {
		return "bound the number, as in max(loop.slots - 2, 1) or (loop.slots + 2) / 3, or name the loops in match"
	}
	return "compare with loop.slots, or name the loops in match"
}

func slotsOf(slots int) string {
	if slots == 1 {
		return "1 slot"
	}
	return fmt.Sprintf("%d slots", slots)
}

// decidedBySlots returns the first comparison of loop.busy or another stub that a number of slots
// decides, its value, and whether it is decided as on a loop with much to do. Otherwise it returns
// one only if the policy then never comes to one of its acts.
func (m Member) decidedBySlots(slots int) (found *ir.Node, always, loaded bool) {
	follow := func(known bool) *analysis {
		a := (&ranges{}).analysis(m)
		a.learnRelations()
		for _, stub := range []stubs.ID{stubs.LoopSlots, stubs.LoopBusy} {
			least := int64(slots)
			if stub == stubs.LoopBusy {
				least = 0
			}
			for _, r := range a.p.Reads {
				if known && r.Stub == stub {
					a.facts.learn(a.facts.read(r), intValue(stubs.Int, interval{lo: least, hi: int64(slots)}))
				}
			}
		}
		a.statement(a.p.Root)
		return a
	}
	knows, before := follow(true), follow(false)
	loses, ofMax := knows.loses(before), lowered(m.Verified.program.Root)
	knows.p.Root.Any(func(n *ir.Node) bool {
		v, reached := knows.values[n]
		if loaded || ofMax[n] || n.A == nil || n.B == nil || n.Type != stubs.Bool || n.A.Type == stubs.Bool || !reached || !v.truth.constant() || before.values[n].truth.constant() {
			return false
		}
		g, s := grounds{}, flat
		knows.readsIn(n, map[int]bool{}, &g)
		for _, r := range g.reads {
			if why, by := reasonBy(r.Stub); why == load && by == rising {
				s = s.and(knows.slope(n, source{stub: r.Stub}))
			}
		}
		much := s == rising && v.truth.yes || s == falling && v.truth.no
		if much || loses && found == nil && g.about(func(r ir.Read) bool { return r.Stub != stubs.LoopSlots }) {
			found, always, loaded = n, v.truth.yes, much
		}
		return loaded
	})
	return found, always, loaded
}
