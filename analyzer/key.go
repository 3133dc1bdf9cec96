package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// KeyRead is a constant key of a keyed state that a policy reads, and that no policy writes as a
// constant.
type KeyRead struct {
	Remark
	Key string       // without quotes
	By  []ir.Mention // the key as a value of each stub by which policies write the state
}

// KeyReads returns the constant keys that nothing writes for certain. If By is empty, no policy
// writes the key. Otherwise it is written when one of the stubs has its value. Keys other
// than one name, and keys of states that no policy writes, are left out.
func KeyReads(members []Member) (all []KeyRead) {
	writers := keyWriters(members)
	for _, m := range members {
		p := m.Verified.program
		for _, r := range p.Reads {
			w := writers[m.own(r.Key)]
			if !readsName(r) || w == nil || w.constant[r.By[0].Word] {
				continue
			}
			k := KeyRead{Key: r.By[0].Text}
			for _, stub := range w.by {
				k.By = append(k.By, ir.Mention{Read: stub, Name: k.Key})
			}
			n := &ir.Node{Pos: r.Pos, End: r.Pos}
			p.Root.Any(func(at *ir.Node) bool {
				found := at.Op == ir.OpRead && at.Index == r.Offset
				if found {
					n = at
				}
				return found
			})
			k.Remark = m.remark(n, "write a key that a policy writes", "no policy writes the key %s of the state %s", r.By.Texts()[0], r.Key)
			all = append(all, k)
		}
	}
	return all
}

// readsName reports whether the read is of a constant key that is one name.
func readsName(r ir.Read) bool {
	return r.Stub == stubs.State && r.By != nil && r.By.Constant() && r.By.Types() == oneName
}

// writesBy returns the stub whose value is the key, or the first part of it.
func writesBy(p *ir.Program, s ir.Site) ir.Read {
	i := slices.IndexFunc(p.Reads, func(r ir.Read) bool { return r.Offset == s.By[0].Offset })
	return p.Reads[i].Name()
}

// KeyUse is a use of a state with keys.
type KeyUse struct {
	State  string // with the policy's name, if it is private
	Writes bool
	Key    string  // the constant key that the policy reads, one name
	By     ir.Read // or the stub by which it writes the state
}

// KeyUses returns the constant keys that the policy reads, and the stubs by which it writes states.
// The names in KeyReads of several policies are among the combinations of the two.
func (m Member) KeyUses() (all []KeyUse) {
	p := m.Verified.program
	for _, r := range p.Reads {
		if readsName(r) {
			all = append(all, KeyUse{State: m.own(r.Key), Key: r.By[0].Text})
		}
	}
	for _, s := range p.Sites {
		if s.By != nil && s.Effect.Writes() && !s.By.Constant() {
			all = append(all, KeyUse{State: m.own(s.Name), Writes: true, By: writesBy(p, s)})
		}
	}
	return all
}

// oneName is the type of keys with a single part, a name.
var oneName = ir.KeyTypes{stubs.Name}

// keyWriter holds the keys under which policies write a state.
type keyWriter struct {
	constant map[uint64]bool
	by       []ir.Read
}

func keyWriters(members []Member) map[string]*keyWriter {
	all := map[string]*keyWriter{}
	for _, m := range members {
		p := m.Verified.program
		for _, s := range p.Sites {
			if s.By == nil || !s.Effect.Writes() {
				continue
			}
			w := all[m.own(s.Name)]
			if w == nil {
				w = &keyWriter{constant: map[uint64]bool{}}
				all[m.own(s.Name)] = w
			}
			if s.By.Constant() {
				w.constant[s.By[0].Word] = true
				continue
			}
			w.by = append(w.by, writesBy(p, s))
		}
	}
	return all
}

// unwritten returns warnings about constant keys that no policy writes.
func unwritten(members []Member) (all []Remark) {
	for _, k := range KeyReads(members) {
		if len(k.By) == 0 {
			all = append(all, k.Remark)
		}
	}
	return all
}
