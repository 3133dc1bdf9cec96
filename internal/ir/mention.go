package ir

import "github.com/cocoon-go/cocoon/stubs"

// Mention is a name that a program compares with a state stub.
type Mention struct {
	Read   Read
	Name   string
	Listed bool // it is one of many in a list, most of which may never occur
}

// Mentions returns the names in the program, with the stubs that they are compared with. A caller
// that knows the names of tasks, sections, loops, tenants, events and labels in use can find
// misspelt names. Names of kinds are left out.
func (p *Program) Mentions() []Mention {
	w := mentions{p: p, reads: make(map[int]Read, len(p.Reads)), locals: map[int]int{}}
	for _, r := range p.Reads {
		w.reads[r.Offset] = r
	}
	w.node(p.Root)
	return w.found
}

// mentions is a walk through a program.
type mentions struct {
	p      *Program
	reads  map[int]Read // by offset
	locals map[int]int  // offset, by local bound to a read or a list's element
	found  []Mention
}

func (w *mentions) node(n *Node) {
	if n == nil {
		return
	}
	w.node(n.A)
	switch offset, ok := w.offset(n.A); {
	case n.Op == OpLet && ok:
		w.locals[n.Index] = offset
	case n.Source.List:
		w.locals[n.Index] = n.Source.Offset
	}
	w.node(n.B)
	w.node(n.C)
	if n.Op == OpEq || n.Op == OpNe {
		w.pair(n.A, n.B)
		w.pair(n.B, n.A)
	}
	if n.Op == OpIn && n.A.Type == stubs.Name {
		w.set(n.A, w.p.Sets[n.Index])
	}
}

// offset returns where the snapshot holds what the node stands for.
func (w *mentions) offset(n *Node) (offset int, ok bool) {
	switch {
	case n == nil:
		return 0, false
	case n.Op == OpRead:
		return n.Index, true
	case n.Op == OpLocal:
		offset, ok = w.locals[n.Index]
	}
	return offset, ok
}

func (w *mentions) pair(stub, constant *Node) {
	offset, ok := w.offset(stub)
	if !ok || constant.Op != OpConst || constant.Type != stubs.Name || constant.Imm == 0 {
		return
	}
	if r := w.reads[offset]; r.Stub < stubs.State && !stubs.Catalogue[r.Stub].Enum {
		w.found = append(w.found, Mention{Read: r, Name: w.p.Names[stubs.NameID(constant.Imm)]})
	}
}

func (w *mentions) set(stub *Node, s Set) {
	if offset, ok := w.offset(stub); ok && w.reads[offset].Stub < stubs.State && !stubs.Catalogue[w.reads[offset].Stub].Enum {
		for _, word := range s.Words {
			if word == 0 {
				continue
			}
			w.found = append(w.found, Mention{Read: w.reads[offset], Name: w.p.Names[stubs.NameID(word)], Listed: true})
		}
	}
}
