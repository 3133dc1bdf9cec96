package analyzer

import (
	"errors"
	"fmt"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// ErrMalformed is wrapped by the error about a program that lang.Parse cannot have made: no
// change of the policy's text would repair it.
var ErrMalformed = errors.New("malformed program")

// Bounds of a program's form. They limit the verifier's own time and recursion, whatever its input;
// Parse stays far below them.
const (
	maxNodes = 1 << 16
	maxDepth = 1 << 13
	maxWords = 1 << 12 // of the snapshot
	maxTable = 1 << 12 // reads, locals and reasons each
)

// form checks that a program has the form documented in internal/ir/ir.go. All later steps rely on
// the form without checking it again.
type form struct {
	p     *ir.Program
	reads map[int]ir.Read // by offset
	scope []bool          // by local: bound here
	seen  map[*ir.Node]bool
	sites []bool // by site: used
	loops int    // enclosing quantifiers
}

// checkForm reports the first error in the program's form, as a *policy.Error or as ErrMalformed.
func checkForm(p *ir.Program) error {
	if p == nil || p.Root == nil {
		return malformed("there is no program")
	}
	f := &form{
		p: p, reads: map[int]ir.Read{}, seen: map[*ir.Node]bool{},
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

// at is malformed with the position in the text.
func at(n *ir.Node, format string, args ...any) error {
	return malformed("%s (operation %d at offset %d)", fmt.Sprintf(format, args...), n.Op, n.Pos)
}

// enter records a visit of the node; a second visit means that the program is not a tree.
func (f *form) enter(n *ir.Node, depth int) error {
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

// statement checks a node of type Unit or Verdict, in which effects are allowed. OpTake is the only
// operation with a value that has an effect, and it may not be in a predicate. So no site fires
// twice, because each occurs once in the program.
func (f *form) statement(n *ir.Node, want stubs.Type, depth int) error {
	if err := f.enter(n, depth); err != nil {
		return err
	}
	if n.Type != want {
		return at(n, "a %v where a %v belongs", n.Type, want)
	}
	switch n.Op {
	case ir.OpVerdict:
		return f.verdict(n, depth)
	case ir.OpEffect:
		return f.effect(n, depth)
	case ir.OpLet:
		return f.let(n, depth, func() error { return f.statement(n.B, want, depth+1) })
	case ir.OpSeq:
		if n.C != nil {
			return at(n, "too many operands")
		}
		if err := f.statement(n.A, stubs.Unit, depth+1); err != nil {
			return err
		}
		return f.statement(n.B, want, depth+1)
	case ir.OpIf:
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

func (f *form) verdict(n *ir.Node, depth int) error {
	throws := stubs.Decision(n.Imm) == stubs.Throw
	switch {
	case n.Type != stubs.Verdict || n.Imm > uint64(stubs.Switch):
		return at(n, "no verdict")
	case n.A != nil && !throws || n.B != nil || n.C != nil:
		return at(n, "a verdict has no operands")
	case throws && (n.Index < 0 || n.Index >= len(f.p.Reasons)):
		return at(n, "reason %d of %d", n.Index, len(f.p.Reasons))
	case n.A != nil:
		return f.operand(n.A, stubs.Duration, depth)
	}
	return nil
}

func (f *form) effect(n *ir.Node, depth int) error {
	if n.Index < 0 || n.Index >= len(f.sites) || n.Type != stubs.Unit || n.B != nil || n.C != nil {
		return at(n, "no effect: site %d of %d", n.Index, len(f.sites))
	}
	if err := f.site(n); err != nil {
		return err
	}
	if f.p.Sites[n.Index].Effect == stubs.Take {
		return at(n, "effect %d takes tokens and has no value", n.Index)
	}
	if want := f.p.Sites[n.Index].Type; want != stubs.Unit {
		return f.operand(n.A, want, depth)
	}
	if n.A != nil {
		return at(n, "an effect without operand has one")
	}
	return nil
}

// site records the site of n, and refuses a second node with the same site.
func (f *form) site(n *ir.Node) error {
	if f.sites[n.Index] {
		return at(n, "effect %d is written twice", n.Index)
	}
	f.sites[n.Index] = true
	return nil
}

// let checks a binding, and its body inside the local's scope.
func (f *form) let(n *ir.Node, depth int, body func() error) error {
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

// local checks that n may bind its local here: a binding must not hide another, because all
// evaluators keep one word for each local.
func (f *form) local(n *ir.Node, depth int) error {
	if n.Index < 0 || n.Index >= len(f.scope) {
		return at(n, "local %d of %d", n.Index, len(f.scope))
	}
	if f.scope[n.Index] {
		return at(n, "local %d is bound twice", n.Index)
	}
	return nil
}
