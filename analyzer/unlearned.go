package analyzer

import (
	"fmt"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// unlearned returns warnings about throws into tasks that have taken longer than a multiple of what
// a state has learned from other tasks, if the state begins with 0: each task has taken longer.
func unlearned(members []Member, d Declared) (all []Remark) {
	for _, m := range members {
		p := m.Verified.program
		if m.Spec.Mode == policy.Off || !p.Root.Any(throws) {
			continue
		}
		for _, r := range p.Reads {
			s, ok := m.declaration(r.Key, d)
			if r.Stub != stubs.State || !ok || s.IsBucket() || s.First != 0 || r.Type == stubs.Bool || !m.learns(members, r.Key) {
				continue
			}
			if at := m.withoutLesson(r); at != nil {
				all = append(all, m.remark(at, fmt.Sprintf("write %v > %v and ...", r, map[bool]string{true: `duration("0s")`, false: "0"}[r.Type == stubs.Duration]),
					"%v is 0 until a task has ended, and %s then ends each task", r, m.text(at)))
				break
			}
		}
	}
	return all
}

// learns reports whether policies write a state when tasks end, and on no other event of tasks.
func (m Member) learns(members []Member, state string) (yes bool) {
	for _, o := range members {
		for _, site := range o.Verified.program.Sites {
			if site.Effect.Writes() && o.own(site.Name) == m.own(state) {
				if o.Verified.program.On&^(stubs.Exit|stubs.Leave) != 0 || o.Spec.Mode == policy.Off {
					return false
				}
				yes = true
			}
		}
	}
	return yes
}

// withoutLesson returns a throw that a time of the task leads to as soon as the time is above 0, while
// a state is 0, and leads to later if the state is more.
func (m Member) withoutLesson(state ir.Read) (found *ir.Node) {
	p := m.Verified.program
	free, zero := newAnalysis(p, 0), newAnalysis(p, 0)
	free.statement(p.Root)
	zero.facts.learn(zero.facts.read(state), constant(state.Type, 0))
	for _, r := range p.Reads {
		if isTimeSoFar(r) {
			zero.facts.learn(zero.facts.read(r), intValue(r.Type, interval{lo: 1, hi: int64(time.Millisecond)}))
		}
	}
	zero.statement(p.Root)
	c := free.contraries(stubs.Throw)
	c.follow(p.Root, nil, func(n *ir.Node, conds []condition) {
		compares := func(cond condition) bool {
			return c.a.slopeOf(cond, source{stubs.State, state.Key}) == falling &&
				slices.ContainsFunc(p.Reads, func(r ir.Read) bool { return isTimeSoFar(r) && c.a.slopeOf(cond, source{stub: r.Stub}) == rising })
		}
		if found == nil && zero.reached[n] && slices.ContainsFunc(conds, compares) {
			found = n
		}
	})
	return found
}

// isTimeSoFar reports whether a stub is a time that a task has taken.
func isTimeSoFar(r ir.Read) bool {
	why, s := reasonBy(r.Stub)
	return r.Type == stubs.Duration && why == spent && s == rising && r.Stub != stubs.ArrivingCost
}
