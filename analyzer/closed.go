package analyzer

import (
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// admitted are the events of tasks that have been let in.
const admitted = stubs.Start | stubs.Block | stubs.Unblock | stubs.Exit | stubs.Leave

// later is a time after which a policy that compares a moment with the clock has decided.
const later = int64(1) << 61

// closed returns warnings about policies that refuse all tasks while states keep their first
// values, if only tasks that have been let in change these states: most often a circuit breaker
// written the wrong way round. It also returns the states, by their own names.
func closed(members []Member, d Declared) (all []Remark, states map[string]bool) {
	states = map[string]bool{}
	writers := map[string][]Member{}
	for _, m := range members {
		for _, site := range m.Verified.program.Sites {
			if site.Effect.Writes() {
				writers[m.own(site.Name)] = append(writers[m.own(site.Name)], m)
			}
		}
	}
	for _, m := range members {
		p := m.Verified.program
		if p.On != stubs.Enqueue || m.Spec.Mode == policy.Off || p.AsksRunning() || !p.Root.Any(throws) {
			continue
		}
		at, state := m.closes(writers, d)
		switch {
		case at == nil:
			continue
		case m.untilFailure(writers[m.own(state)]):
			all = append(all, m.remark(at, "compare the other way round",
				"%s refuses all tasks while the state %s has its first value, and only the event %q changes it", m.text(at), state, writers[m.own(state)][0].Spec.On.Custom))
		default:
			all = append(all, m.remark(at, "compare the other way round, or let some tasks in, as in not chance(0.05)",
				"%s refuses all tasks while the state %s has its first value, and only tasks that are let in change it", m.text(at), state))
		}
		states[m.own(state)] = true
	}
	return all, states
}

// closes returns the throw into all tasks, and a state by which it is decided.
func (m Member) closes(writers map[string][]Member, d Declared) (at *ir.Node, state string) {
	a, free := newAnalysis(m.Verified.program, 0), newAnalysis(m.Verified.program, 0)
	for _, r := range a.p.Reads {
		switch s, ok := m.declaration(r.Key, d); {
		case r.Stub == stubs.RuntimeUptime:
			a.facts.learn(a.facts.read(r), intValue(r.Type, interval{lo: later, hi: 2 * later}))
		case r.Stub == stubs.State && r.By == nil && ok && !s.IsBucket() && (m.waitsFor(writers[m.own(r.Key)]) || m.untilFailure(writers[m.own(r.Key)])):
			a.facts.learn(a.facts.read(r), constant(s.Type, s.First))
			state = r.Key
		}
	}
	if state == "" {
		return nil, ""
	}
	a.statement(a.p.Root)
	free.statement(free.p.Root)
	if !reaches(a.reached, stubs.Throw) || reaches(a.reached, stubs.Continue) || !reaches(free.reached, stubs.Continue) {
		return nil, ""
	}
	a.p.Root.Any(func(n *ir.Node) bool {
		if throws(n) && a.reached[n] {
			at = n
		}
		return at != nil
	})
	return at, state
}

// untilFailure reports whether a state with these writers changes only on custom events which, by
// their names, are failures.
func (m Member) untilFailure(writers []Member) bool {
	return len(writers) > 0 && !slices.ContainsFunc(writers, func(o Member) bool {
		return o.Spec.On.Set() != stubs.Custom || !countsTrouble(strings.NewReplacer(" ", "_", "-", "_", ".", "_").Replace(o.Spec.On.Custom))
	})
}

// waitsFor reports whether a state with these writers changes only when tasks that the policy lets
// in do something.
func (m Member) waitsFor(writers []Member) bool {
	return len(writers) > 0 && !slices.ContainsFunc(writers, func(o Member) bool { return o.Verified.program.On&^admitted != 0 || !m.covers(o) })
}
