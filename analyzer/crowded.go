package analyzer

import (
	"fmt"
	"maps"
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// crowded returns warnings about keyed states that keep fewer keys than the stubs of their keys
// have values, or more than tenants have accounts.
func crowded(members []Member, d Declared) (all []Remark) {
	told, texts := map[string]bool{}, constantKeys(members)
	for _, m := range members {
		for _, name := range slices.Sorted(maps.Keys(usesIn(m.Verified.program))) {
			s, ok := m.declaration(name, d)
			at, kind := m.keyed(name)
			if !ok || s.Keys == 0 || at == nil || told[m.own(name)] {
				continue
			}
			values, stub := 1, ""
			for _, part := range kind {
				if n := part.values(d); n > 1 {
					values, stub = values*n, part.text
				}
			}
			switch told[m.own(name)] = true; {
			case values > s.Keys:
				all = append(all, m.remark(at, "declare more keys", "the state %s keeps %d keys, and %s has more values: each new key takes the place of another", name, s.Keys, stub))
			case len(texts[m.own(name)]) > s.Keys:
				all = append(all, m.remark(at, "declare more keys", "the state %s keeps %d keys, and policies write %d constant keys: each new key takes the place of another", name, s.Keys, len(texts[m.own(name)])))
			case len(kind) == 1 && stub == "tenant.name" && s.Keys > namedTenants(members)+d.Accounts && d.Accounts > 0:
				all = append(all, m.remark(at, fmt.Sprintf("write max: %d in tenants, or declare fewer keys", min(s.Keys, policy.MaxTenants)),
					`the state %s keeps %d keys, and a loop keeps the accounts of %d tenants: for all others tenant.name is "other", and they share one key`, name, s.Keys, d.Accounts))
			default:
				told[m.own(name)] = false
			}
		}
	}
	return all
}

// namedTenants returns a bound of the tenants that have an account because policies name them, plus
// one for the account that all tenants without their own share.
func namedTenants(members []Member) int {
	names := map[string]bool{}
	for _, m := range members {
		for _, of := range m.Verified.program.Mentions() {
			if of.Read.Stub == stubs.TenantName {
				names[of.Name] = true
			}
		}
	}
	return len(names) + 1
}

// constantKeys returns the constants that policies write as keys, by the states' own names.
func constantKeys(members []Member) map[string]map[string]bool {
	texts := map[string]map[string]bool{}
	for _, m := range members {
		for _, site := range m.Verified.program.Sites {
			if site.By == nil || !site.Effect.Writes() || !site.By.Constant() {
				continue
			}
			own := m.own(site.Name)
			if texts[own] == nil {
				texts[own] = map[string]bool{}
			}
			texts[own][m.keyKind(site.By).String()] = true
		}
	}
	return texts
}

// values returns a lower bound of the number of values that a part has.
func (p keyPart) values(d Declared) int {
	switch {
	case p.text == "tenant.name" && !p.constant:
		return max(d.Tenants, 2)
	case p.constant, p.text == "loop.name", p.text == "event.name":
		return 1
	case p.of == stubs.Int && p.most-p.least < 1000 && p.most >= p.least:
		return int(p.most-p.least) + 1
	}
	return 2
}

// declaration returns the declaration of a state that the policy writes.
func (m Member) declaration(state string, d Declared) (policy.State, bool) {
	if declared, private := m.Spec.State[state]; private {
		s, err := policy.StateOf(declared)
		return s, err == nil
	}
	s, ok := d.States[state]
	return s, ok
}

// keyed returns the first effect that writes a key of a state, and the kind of the key.
func (m Member) keyed(state string) (at *ir.Node, kind keyKind) {
	p := m.Verified.program
	p.Root.Any(func(n *ir.Node) bool {
		if (n.Op == ir.OpEffect || n.Op == ir.OpTake) && p.Sites[n.Index].Name == state && p.Sites[n.Index].By != nil {
			at, kind = n, m.keyKind(p.Sites[n.Index].By)
		}
		return at != nil
	})
	return at, kind
}
