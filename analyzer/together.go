package analyzer

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// Member is a verified policy of a server.
type Member struct {
	Spec     policy.Spec
	Verified Verified
}

// Remark is a warning about a policy or a state of a server. Its reason involves other policies of
// the server.
type Remark struct {
	policy.Part
	Err error // a *policy.Error, or without a place in an expression
}

// Together returns warnings about policies that are in force together, in their order.
func Together(members []Member) (all []Remark) {
	order := slices.IndexFunc(members, func(m Member) bool { return m.Spec.Name == policy.OrderName && m.ranks() })
	for i, m := range members {
		if order >= 0 && i != order && m.ranks() && sameLoop(m.Spec.Match, members[order].Spec.Match) {
			all = append(all, m.remark(m.effect(isRank), "remove one of them; or rank in one policy, by a condition",
				"the policy %q ranks the same tasks: of two ranks of a task the last counts, and ranks compare as plain numbers", policy.OrderName))
		}
	}
	return append(all, drifts(members)...)
}

// Idle returns warnings about the states, and the keys of states, that no policy writes. Tasks may
// read a state, too, so there is no warning about a state that policies only write.
func Idle(members []Member, states map[string]policy.State) (all []Remark) {
	read, written := map[string]bool{}, map[string]bool{}
	for _, m := range members {
		own := func(name string) bool { return m.own(name) != name }
		for _, r := range m.Verified.program.Reads {
			if r.OfState() && !own(r.Key) {
				read[r.Key] = true
			}
		}
		for _, s := range m.Verified.program.Sites {
			if s.Effect.Writes() && !own(s.Name) {
				written[s.Name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(states)) {
		err := errors.New("no policy reads or writes it")
		switch {
		case written[name], read[name] && states[name].Parameter():
			continue
		case read[name]:
			err = fmt.Errorf("policies read it, and no policy writes it")
		}
		all = append(all, Remark{policy.Part{Kind: "state", Name: name}, err})
	}
	return append(all, unwritten(members)...)
}

var errIdleShares = errors.New("the shares have no effect, because no policy reads arriving.virtual_time; write order: fair")

// IdleShares returns a warning for shares of tenants that no policy makes use of, or nil.
func IdleShares(members []Member) error {
	for _, m := range members {
		if slices.ContainsFunc(m.Verified.program.Reads, func(r policy.Read) bool { return r.Stub == stubs.ArrivingVirtualTime }) {
			return nil
		}
	}
	return errIdleShares
}

func (m Member) remark(n *policy.Node, hint, format string, args ...any) Remark {
	return Remark{policy.Part{Kind: "policy", Name: m.Spec.Name}, m.Verified.program.Errorf(n, hint, format, args...)}
}

// effect returns the first effect for which f is true.
func (m Member) effect(f func(*policy.Program, *policy.Node) bool) (first *policy.Node) {
	m.Verified.program.Root.Any(func(n *policy.Node) bool {
		if n.Op == policy.OpEffect && f(m.Verified.program, n) {
			first = n
		}
		return first != nil
	})
	return first
}

func isRank(p *policy.Program, n *policy.Node) bool { return p.Sites[n.Index].Effect == stubs.Rank }

func (m Member) ranks() bool {
	return slices.ContainsFunc(m.Verified.program.Sites, func(s policy.Site) bool { return s.Effect == stubs.Rank })
}

func sameLoop(a, b policy.Match) bool {
	return len(a.Loops) == 0 || len(b.Loops) == 0 || slices.ContainsFunc(a.Loops, func(name string) bool { return slices.Contains(b.Loops, name) })
}
