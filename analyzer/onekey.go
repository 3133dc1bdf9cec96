package analyzer

import (
	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// oneKey returns warnings about states that keep several keys, where the policies read and write
// only one constant: the key is the text in quotes, and all tasks share its value.
func oneKey(members []Member, d Declared) (all []Remark) {
	type use struct {
		first Member
		at    *ir.Node
		texts map[string]bool
		mixed bool // some key is not a constant
	}
	uses, order := map[string]*use{}, []string{}
	note := func(m Member, name string, by *ir.KeyOf, at *ir.Node) {
		own := m.own(name)
		if uses[own] == nil {
			uses[own] = &use{first: m, at: at, texts: map[string]bool{}}
			order = append(order, own)
		}
		kind := m.keyKind(by)
		uses[own].mixed = uses[own].mixed || !kind.constant()
		uses[own].texts[kind.String()] = true
	}
	for _, m := range members {
		p := m.Verified.program
		p.Root.Any(func(n *ir.Node) bool {
			if (n.Op == ir.OpEffect || n.Op == ir.OpTake) && p.Sites[n.Index].By != nil {
				note(m, p.Sites[n.Index].Name, p.Sites[n.Index].By, n)
			}
			return false
		})
		for _, r := range p.Reads {
			if r.Stub == stubs.State && r.By != nil {
				note(m, r.Key, r.By, m.readAt(r))
			}
		}
	}
	for _, own := range order {
		u := uses[own]
		name := u.first.stateAt(u.at)
		if s, ok := u.first.declaration(name, d); u.mixed || len(u.texts) > 1 || !ok || s.Keys < 2 {
			continue
		} else {
			for text := range u.texts {
				all = append(all, u.first.remark(u.at, "write a stub as the key, such as tenant.name; or declare the state without keys",
					"the only key of the state %s is %s: it keeps %d keys, and policies use one", name, text, s.Keys))
			}
		}
	}
	return all
}

// stateAt returns the name of the state that an operation reads or writes.
func (m Member) stateAt(n *ir.Node) string {
	p := m.Verified.program
	if n.Op != ir.OpRead {
		return p.Sites[n.Index].Name
	}
	for _, r := range p.Reads {
		if r.Offset == n.Index {
			return r.Key
		}
	}
	return ""
}
