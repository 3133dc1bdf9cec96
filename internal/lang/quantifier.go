package lang

import (
	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// MaxRange is the greatest number of elements of a range in any, all, none and count.
const MaxRange = 1024

var quantifiers = map[string]ir.Op{"any": ir.OpAny, "all": ir.OpAll, "none": ir.OpNone, "count": ir.OpCount}

// quantifier lowers any, all, none and count.
func (l *lowerer) quantifier(n ast.Node, name string, args []ast.Node) value {
	if len(args) != 2 {
		l.refuse(n, "write "+name+"(task.stack, # == \"...\"), and true to look at every element", "%s needs a list and a predicate", name)
	}
	src, t := l.list(args[0])
	if src == nil {
		l.refuse(args[0], "write task.stack, or a range as in 1..9", "%s is not a list", l.excerpt(args[0]))
	}
	predicate := args[1].(*ast.PredicateNode).Node
	local := l.local(t)
	l.elements = append(l.elements, value{node: &ir.Node{Op: ir.OpLocal, Type: t, Index: local}})
	body := l.boolean(predicate, "the predicate of "+name)
	l.elements = l.elements[:len(l.elements)-1]

	result := stubs.Bool
	if name == "count" {
		result = stubs.Int
	}
	q := l.node(n, quantifiers[name], result, nil, body)
	q.Source, q.Index = *src, local
	return value{node: q}
}

// list lowers a sequence, and returns the type of its elements; nil when n is not a list.
func (l *lowerer) list(n ast.Node) (*ir.Source, stubs.Type) {
	switch n := n.(type) {
	case *ast.BinaryNode:
		if n.Operator != ".." {
			return nil, 0
		}
		lo, hi := l.bounds(n, "")
		if uint64(hi)-uint64(lo) >= MaxRange {
			l.refuse(n, "", "the range %s has more than %d elements", l.excerpt(n), MaxRange)
		}
		return &ir.Source{Lo: lo, Hi: hi}, stubs.Int
	case *ast.MemberNode:
		v := l.value(n)
		if v.node.Type != stubs.NameList {
			return nil, 0
		}
		for _, r := range l.prog.Reads {
			if r.Offset == v.node.Index {
				return &ir.Source{List: true, Offset: r.Offset, Max: r.Words - 1}, stubs.Name
			}
		}
	}
	return nil, 0
}

// element lowers #.
func (l *lowerer) element(n *ast.PointerNode) value {
	if n.Name != "" {
		l.refuse(n, "# is the element itself", "there is no #%s", n.Name)
	}
	return l.use(n, l.elements[len(l.elements)-1])
}
