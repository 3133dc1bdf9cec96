package analyzer

import (
	"errors"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/policy/document"
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
	document.Part
	Err error // a *policy.Error, or without a place in an expression
}

// Declared is what a server declares in addition to its policies.
type Declared struct {
	States map[string]policy.State // registered

	Tenant   string // the label of the tenants, or ""
	Tenants  int    // how many tenants are expected, as in policy.Tenants
	Accounts int    // of tenants on a loop, tenants with shares included
}

// Together returns warnings about policies in force together, in their order.
func Together(members []Member) []Remark { return slices.Concat(ordered(members), unzoned(members)) }

// Flows returns warnings about what policies write for other policies to read, and about ranks. It
// must know all policies of the server: a policy that is missing may write what another reads.
func Flows(members []Member, d Declared) []Remark {
	beyond := outside(members, d)
	drift := slices.DeleteFunc(drifts(members, d), func(r Remark) bool {
		return slices.ContainsFunc(beyond, func(o Remark) bool { return r.Part == o.Part && r.place() == o.place() })
	})
	shut, told := closed(members, d)
	return slices.Concat(ranks(members), behind(members), nobody(members), paidFor(members), drift, undone(members), shadows(members), strangers(members, d), labelled(members), percentages(members, d), crowded(members, d), oneKey(members, d), moments(members), retries(members), crossedBetween(members), negative(members, d), heapStates(members, d), minutes(members, d), floors(members, d), sinking(members), chained(members), namesakes(members), bent(members, d), shut, capped(members, d), feedback(members, told), latches(members, d, told), unlearned(members, d), idleTakes(members), twice(members), setBack(members), beyond)
}

// place returns the place in the policy's expression, or -1.
func (r Remark) place() int {
	var e *ir.Error
	if errors.As(r.Err, &e) {
		return e.Pos
	}
	return -1
}

// Idle returns warnings about the states, and the keys of states, that no policy writes, or to
// which policies give only the first value. Tasks may read a state, too, so there is no warning
// about a state that policies only write; see Unread.
func Idle(members []Member, states map[string]policy.State) (all []Remark) {
	uses := usesOf(members)
	for _, name := range slices.Sorted(maps.Keys(states)) {
		use, err := uses[name], errors.New("no policy reads or writes it")
		switch {
		case use.written && use.changed(states[name]), !use.written && use.read && states[name].Parameter():
			continue
		case use.written:
			err = errors.New("policies give it its first value and no other")
		case use.read:
			err = errors.New("policies read it, and no policy writes it")
		}
		all = append(all, Remark{document.Part{Kind: "state", Name: name}, err})
	}
	return append(all, unwritten(members)...)
}

// Unread returns the registered states that policies write and do not read.
func Unread(members []Member, states map[string]policy.State) (names []string) {
	uses := usesOf(members)
	for _, name := range slices.Sorted(maps.Keys(states)) {
		if uses[name].written && !uses[name].read {
			names = append(names, name)
		}
	}
	return names
}

// use says how policies use a state.
type use struct {
	read, written bool
	sets          []uint64 // the constants to which policies set it
	otherwise     bool     // policies also write other values
}

// changed reports whether some policy gives the state another value than its first.
func (u use) changed(s policy.State) bool {
	return u.otherwise || slices.ContainsFunc(u.sets, func(word uint64) bool { return word != s.First })
}

// usesOf returns how policies use the registered states.
func usesOf(members []Member) map[string]use {
	uses := map[string]use{}
	for _, m := range members {
		for name, by := range usesIn(m.Verified.program) {
			if m.own(name) != name {
				continue
			}
			u := uses[name]
			uses[name] = use{u.read || by.read, u.written || by.written, append(u.sets, by.sets...), u.otherwise || by.otherwise}
		}
	}
	return uses
}

var errIdleShares = errors.New("the shares have no effect, because no policy reads arriving.virtual_time; write order: fair")

// IdleShares returns a warning for shares of tenants that no policy makes use of, or nil.
func IdleShares(members []Member) error {
	for _, m := range members {
		if slices.ContainsFunc(m.Verified.program.Reads, func(r ir.Read) bool { return r.Stub == stubs.ArrivingVirtualTime }) {
			return nil
		}
	}
	return errIdleShares
}

func (m Member) remark(n *ir.Node, hint, format string, args ...any) Remark {
	return Remark{document.Part{Kind: "policy", Name: m.Spec.Name}, m.Verified.program.Errorf(n, hint, format, args...)}
}

// effect returns the first effect for which f is true.
func (m Member) effect(f func(*ir.Program, *ir.Node) bool) (first *ir.Node) {
	m.Verified.program.Root.Any(func(n *ir.Node) bool {
		if n.Op == ir.OpEffect && f(m.Verified.program, n) {
			first = n
		}
		return first != nil
	})
	return first
}

func sameLoop(a, b policy.Match) bool {
	return len(a.Loops) == 0 || len(b.Loops) == 0 || slices.ContainsFunc(a.Loops, func(name string) bool { return slices.Contains(b.Loops, name) })
}
