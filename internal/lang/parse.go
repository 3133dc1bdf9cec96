// Package lang reads the language of policies, which docs/policy.md defines. [Parse] checks a text
// and lowers it to a program of package ir. A [Pattern] matches names of tasks.
package lang

import (
	"errors"
	"fmt"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/conf"
	"github.com/expr-lang/expr/parser"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// MaxNodes is the greatest number of operations of a lowered program.
const MaxNodes = 8192

// Parse checks the text of a policy against env and lowers it to a program. The error is the first
// one found, an *ir.Error. The text may be hostile: Parse checks size and nesting before any
// recursion. It does not bound the running time of the program; the verifier of package analyzer
// does.
func Parse(text string, env Env) (p *ir.Program, err error) {
	src, bad := read(text)
	if bad != nil {
		return nil, bad
	}
	if bad := src.checkTokens(); bad != nil {
		return nil, bad
	}
	tree, err := parser.ParseWithConfig(src.parsable(), &conf.Config{MaxNodes: 2*MaxTokens + 10*MaxConstants})
	if err != nil {
		return nil, src.syntaxError(err)
	}
	l := &lowerer{source: src, env: env, prog: &ir.Program{Text: text, On: env.On, Names: map[stubs.NameID]string{}},
		reads: map[readKey]int{}, reasons: map[string]int{}, draws: map[int]string{}}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			p, err = nil, r.Error
		default:
			panic(r)
		}
	}()
	l.prog.Root = l.tail(tree.Node)
	return l.prog, nil
}

// lowerer checks a syntax tree and lowers it in one walk. It stops at the first error by panicking
// with a refusal, which Parse recovers.
type lowerer struct {
	*source
	env       Env
	prog      *ir.Program
	scope     []binding // let names, innermost last
	elements  []value   // of the quantifiers around, innermost last
	nodes     int
	reads     map[readKey]int
	reasons   map[string]int
	draws     map[int]string // of chance(p), by position
	constants int            // of lists
}

type refusal struct{ *ir.Error }

// refuse ends the walk with an error about n.
func (l *lowerer) refuse(n ast.Node, hint, format string, args ...any) {
	panic(l.refusal(n, hint, format, args...))
}

func (l *lowerer) refusal(n ast.Node, hint, format string, args ...any) refusal {
	pos, end := l.place(n)
	return refusal{ir.NewError(l.text, pos, end, hint, fmt.Sprintf(format, args...))}
}

// node makes an operation at the place of at.
func (l *lowerer) node(at ast.Node, op ir.Op, t stubs.Type, operands ...*ir.Node) *ir.Node {
	if l.nodes++; l.nodes > MaxNodes {
		l.refuse(at, "split it into several policies", "the policy has more than %d operations", MaxNodes)
	}
	n := &ir.Node{Op: op, Type: t}
	n.Pos, n.End = l.place(at)
	for i, o := range operands {
		*[]**ir.Node{&n.A, &n.B, &n.C}[i] = o
	}
	return n
}

// folded is node for operations without effect: over constants it returns the resulting constant.
func (l *lowerer) folded(at ast.Node, op ir.Op, t stubs.Type, operands ...*ir.Node) *ir.Node {
	n := l.node(at, op, t, operands...)
	word, ok, err := ir.Fold(n)
	switch {
	case errors.Is(err, ir.ErrDivideByZero):
		l.refuse(at, "", "%s divides by zero", l.excerpt(at))
	case err != nil:
		l.refuse(at, "", "%s overflows", l.excerpt(at))
	case ok:
		return &ir.Node{Op: ir.OpConst, Type: t, Imm: word, Pos: n.Pos, End: n.End}
	}
	return n
}

// constant makes a constant at the place of at.
func (l *lowerer) constant(at ast.Node, t stubs.Type, word uint64) *ir.Node {
	n := l.node(at, ir.OpConst, t)
	n.Imm = word
	return n
}

// local declares a local of type t.
func (l *lowerer) local(t stubs.Type) int {
	l.prog.Locals = append(l.prog.Locals, t)
	return len(l.prog.Locals) - 1
}
