package analyzer

import (
	"errors"
	"fmt"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// ErrMalformed is wrapped by the error about a program that policy.Parse cannot have made: nothing in its author's text
// would mend it.
var ErrMalformed = errors.New("malformed program")

// Bounds of a program's form. They keep the verifier's own time and recursion in hand, whatever it is given; Parse stays
// far below them.
const (
	maxNodes = 1 << 16
	maxDepth = 1 << 13
	maxWords = 1 << 12 // of the snapshot
	maxTable = 1 << 12 // reads, locals and reasons each
)

// form checks that a program is what policy/ir.go says. Everything after it relies on that, and checks nothing again.
type form struct {
	p     *policy.Program
	reads map[int]policy.Read // by offset
	scope []bool              // by local: bound here
	seen  map[*policy.Node]bool
	sites []bool // by site: written
}

// checkForm reports the first thing that is wrong with the program's form, as a *policy.Error or as ErrMalformed.
func checkForm(p *policy.Program) error {
	if p == nil || p.Root == nil {
		return malformed("there is no program")
	}
	f := &form{
		p: p, reads: map[int]policy.Read{}, seen: map[*policy.Node]bool{},
		scope: make([]bool, len(p.Locals)), sites: make([]bool, len(p.Sites)),
	}
	if err := f.tables(); err != nil {
		return err
	}
	return f.statement(p.Root, stubs.Verdict, 0)
}

func malformed(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}

// at is malformed with the place in the text.
func at(n *policy.Node, format string, args ...any) error {
	return malformed("%s (operation %d at offset %d)", fmt.Sprintf(format, args...), n.Op, n.Pos)
}

// tables checks everything but the tree.
func (f *form) tables() error {
	p := f.p
	switch {
	case p.On == 0 || p.On&^stubs.AnyEvent != 0:
		return malformed("%#x is no set of notifications", uint16(p.On))
	case p.Words < 0 || p.Words > maxWords:
		return malformed("a snapshot of %d words; 0 to %d are possible", p.Words, maxWords)
	case len(p.Reads) > maxTable || len(p.Locals) > maxTable || len(p.Reasons) > maxTable:
		return malformed("%d reads, %d locals, %d reasons; at most %d each", len(p.Reads), len(p.Locals), len(p.Reasons), maxTable)
	case len(p.Sites) > stubs.MaxSites:
		return p.Errorf(nil, "split the policy", "the policy has %d effects, and %d are allowed", len(p.Sites), stubs.MaxSites)
	}
	for i, t := range p.Locals {
		if !scalar(t) {
			return malformed("local %d has the type %v", i, t)
		}
	}
	for i, s := range p.Sites {
		if err := checkSite(i, s); err != nil {
			return err
		}
	}
	return f.layout()
}

func scalar(t stubs.Type) bool { return t == stubs.Bool || t == stubs.Name || t.Numeric() }

func checkSite(i int, s policy.Site) error {
	wrong := s.Type != stubs.Unit
	switch s.Effect {
	case stubs.Set:
		wrong = !scalar(s.Type)
	case stubs.Interval:
		wrong = s.Type != stubs.Duration
	case stubs.Call, stubs.Cancel:
	default:
		return malformed("effect %d is of the unknown kind %d", i, uint8(s.Effect))
	}
	if wrong {
		return malformed("effect %d, %v, has an operand of type %v", i, s.Effect, s.Type)
	}
	if s.Name == "" && (s.Effect == stubs.Set || s.Effect == stubs.Call) {
		return malformed("effect %d, %v, has no name", i, s.Effect)
	}
	return nil
}

// layout checks the reads: each is a stub of the catalogue that exists on the program's notifications, inside the
// snapshot, and no two overlap.
func (f *form) layout() error {
	owner := make([]bool, f.p.Words)
	for i, r := range f.p.Reads {
		list, err := f.stub(r)
		if err != nil {
			return err
		}
		if r.Words < 1 || r.Words > f.p.Words || r.Offset < 0 || r.Offset > f.p.Words-r.Words || !list && r.Words != 1 {
			return malformed("read %d takes %d words at %d of a snapshot of %d", i, r.Words, r.Offset, f.p.Words)
		}
		for w := r.Offset; w < r.Offset+r.Words; w++ {
			if owner[w] {
				return malformed("read %d overlaps another", i)
			}
			owner[w] = true
		}
		f.reads[r.Offset] = r
	}
	return nil
}

// stub checks which state stub a read names.
func (f *form) stub(r policy.Read) (list bool, err error) {
	if r.Stub > stubs.State {
		return false, malformed("there is no state stub %d", r.Stub)
	}
	if r.Stub == stubs.State {
		if r.Key == "" || !scalar(r.Type) {
			return false, malformed("the state %q has the type %v", r.Key, r.Type)
		}
		return false, nil
	}
	stub := stubs.Catalogue[r.Stub]
	switch {
	case r.Type != stub.Type:
		return false, malformed("%s is read as a %v; it is a %v", stub.Path, r.Type, stub.Type)
	case r.Key != "" && !stub.Keyed:
		return false, malformed("%s is read with a key", stub.Path)
	case f.p.On&^stub.On != 0:
		return false, malformed("%s is not there on %v", stub.Path, f.p.On&^stub.On)
	}
	list = stub.Type == stubs.NameList
	if list && r.Words != 1+int(stub.Max) {
		return false, malformed("%s takes %d words; it has %d", stub.Path, r.Words, 1+stub.Max)
	}
	return list, nil
}

// enter notes a visit of the node; a second visit means that the program is no tree.
func (f *form) enter(n *policy.Node, depth int) error {
	switch {
	case n == nil:
		return malformed("an operand is missing")
	case f.seen[n]:
		return at(n, "a node has two parents")
	case depth > maxDepth:
		return at(n, "nested more than %d deep", maxDepth)
	case len(f.seen) >= maxNodes:
		return at(n, "more than %d operations", maxNodes)
	case n.Pos < 0 || n.End < n.Pos || n.End > len(f.p.Text):
		return at(n, "no such place in a text of %d bytes", len(f.p.Text))
	}
	f.seen[n] = true
	return nil
}

// statement checks a node of type Unit or Verdict: what may hold effects. Nothing else may, so a condition or a predicate
// has none, and as each site is written once, none fires twice.
func (f *form) statement(n *policy.Node, want stubs.Type, depth int) error {
	if err := f.enter(n, depth); err != nil {
		return err
	}
	if n.Type != want {
		return at(n, "a %v where a %v belongs", n.Type, want)
	}
	switch n.Op {
	case policy.OpVerdict:
		return f.verdict(n)
	case policy.OpEffect:
		return f.effect(n, depth)
	case policy.OpLet:
		return f.let(n, depth, func() error { return f.statement(n.B, want, depth+1) })
	case policy.OpSeq:
		if n.C != nil {
			return at(n, "too many operands")
		}
		if err := f.statement(n.A, stubs.Unit, depth+1); err != nil {
			return err
		}
		return f.statement(n.B, want, depth+1)
	case policy.OpIf:
		if err := f.operand(n.A, stubs.Bool, depth); err != nil {
			return err
		}
		if err := f.statement(n.B, want, depth+1); err != nil {
			return err
		}
		return f.statement(n.C, want, depth+1)
	}
	return at(n, "not a statement")
}

func (f *form) verdict(n *policy.Node) error {
	switch {
	case n.Type != stubs.Verdict || n.Imm > uint64(stubs.Switch):
		return at(n, "no verdict")
	case n.A != nil || n.B != nil || n.C != nil:
		return at(n, "a verdict has no operands")
	case stubs.Decision(n.Imm) == stubs.Throw && (n.Index < 0 || n.Index >= len(f.p.Reasons)):
		return at(n, "reason %d of %d", n.Index, len(f.p.Reasons))
	}
	return nil
}

func (f *form) effect(n *policy.Node, depth int) error {
	if n.Index < 0 || n.Index >= len(f.sites) || n.Type != stubs.Unit || n.B != nil || n.C != nil {
		return at(n, "no effect: site %d of %d", n.Index, len(f.sites))
	}
	if f.sites[n.Index] {
		return at(n, "effect %d is written twice", n.Index)
	}
	f.sites[n.Index] = true
	if want := f.p.Sites[n.Index].Type; want != stubs.Unit {
		return f.operand(n.A, want, depth)
	}
	if n.A != nil {
		return at(n, "an effect without operand has one")
	}
	return nil
}

// let checks a binding, and its body inside the local's scope.
func (f *form) let(n *policy.Node, depth int, body func() error) error {
	if n.C != nil {
		return at(n, "too many operands")
	}
	if err := f.local(n, depth); err != nil {
		return err
	}
	if err := f.operand(n.A, f.p.Locals[n.Index], depth); err != nil {
		return err
	}
	f.scope[n.Index] = true
	defer func() { f.scope[n.Index] = false }()
	return body()
}

// local checks that n may bind its local here: one binding must not hide another, because all evaluators keep one word
// for it.
func (f *form) local(n *policy.Node, depth int) error {
	if n.Index < 0 || n.Index >= len(f.scope) {
		return at(n, "local %d of %d", n.Index, len(f.scope))
	}
	if f.scope[n.Index] {
		return at(n, "local %d is bound twice", n.Index)
	}
	return nil
}
