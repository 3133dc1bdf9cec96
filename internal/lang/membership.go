package lang

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// in lowers x in [...], x in lo..hi and x in task.stack.
func (l *lowerer) in(n *ast.BinaryNode) value {
	reads := len(l.prog.Reads)
	x := l.value(n.Left)
	if x.node.Type == stubs.NameList {
		l.refuse(n.Left, `write "name" in task.stack`, "%s is a list", l.excerpt(n.Left))
	}
	switch right := n.Right.(type) {
	case *ast.ArrayNode:
		return l.shared(n, x, func(x value) value { return value{node: l.inList(n, right, x)} })
	case *ast.BinaryNode:
		if right.Operator == ".." {
			return l.shared(n, x, func(x value) value { return value{node: l.inRange(n, right, x)} })
		}
	case *ast.StringNode:
		hint := "write %s == %q"
		if strings.Contains(right.Value, "*") {
			hint = "write %s in pattern(%q)"
		}
		l.refuse(right, fmt.Sprintf(hint, l.excerpt(n.Left), right.Value), "%s is not a list", l.excerpt(right))
	case *ast.CallNode:
		if text, ok := l.pattern(right); ok {
			return value{node: l.inPattern(n, text, x, len(l.prog.Reads) > reads)}
		}
	case *ast.MemberNode:
		l.refuseLabels(n, right)
		if src, t := l.list(right); src != nil && t == stubs.Name {
			return l.shared(n, l.name(n.Left, x), func(x value) value { return value{node: l.inStub(n, right, *src, x)} })
		}
	}
	l.refuse(n.Right, `write x in ["a", "b"], x in 1..9 or "name" in task.stack`, "%s is not a list", l.excerpt(n.Right))
	return value{}
}

// refuseLabels refuses "x" in task.labels, and "x" in task.sections.
func (l *lowerer) refuseLabels(n *ast.BinaryNode, right *ast.MemberNode) {
	group, isGroup := right.Node.(*ast.IdentifierNode)
	field, isField := right.Property.(*ast.StringNode)
	text, isText := n.Left.(*ast.StringNode)
	if !isGroup || !isField || !isText {
		return
	}
	switch s, ok := stubs.Lookup(group.Value + "." + field.Value); {
	case !ok:
	case s.ID == stubs.TaskLabels, s.ID == stubs.ArrivingLabels:
		l.refuse(n, fmt.Sprintf(`write %s[%q] != ""; a label that is not set is ""`, s.Path, text.Value), "%s is not a list", s.Path)
	case s.ID == stubs.TaskSections:
		l.refuse(n, fmt.Sprintf("write %q in task.stack", text.Value), "%s is not a list", s.Path)
	}
}

// inRange lowers x in lo..hi to comparisons with the bounds, so the length of the range does not
// matter.
func (l *lowerer) inRange(n, r *ast.BinaryNode, x value) *ir.Node {
	lo, hi := l.bounds(r, l.excerpt(n.Left))
	if x.node.Type != stubs.Int {
		l.refuse(n, "compare with >= and <=", "a range holds plain numbers, and %s is %s", l.excerpt(n.Left), describe(x))
	}
	above := l.folded(n, ir.OpGe, stubs.Bool, l.use(n.Left, x).node, l.constant(r, stubs.Int, uint64(lo)))
	below := l.folded(n, ir.OpLe, stubs.Bool, l.use(n.Left, x).node, l.constant(r, stubs.Int, uint64(hi)))
	return l.node(n, ir.OpAnd, stubs.Bool, above, below)
}

// bounds returns the constant bounds of a range. x is the text of the number that the range is
// compared with, or "".
func (l *lowerer) bounds(r *ast.BinaryNode, x string) (lo, hi int64) {
	bound := func(n ast.Node) int64 {
		v := l.value(n)
		if !v.constant() || v.node.Type != stubs.Int {
			l.refuse(n, "write numbers, as in 1..9", "the bounds of a range are plain constants, and %s is %s", l.excerpt(n), describe(v))
		}
		return int64(v.node.Imm)
	}
	lo, hi = bound(r.Left), bound(r.Right)
	if hi < lo {
		hint := fmt.Sprintf("write %d..%d", hi, lo)
		around := fmt.Sprintf("(%s >= %d or %s <= %d) in place of %s in %s", x, lo, x, hi, x, l.excerpt(r))
		switch {
		case strings.HasPrefix(x, "clock."): // a night, or a weekend
			hint = "write " + around
		case x != "":
			hint += "; or, for the numbers outside, " + around
		}
		l.refuse(r, hint, "the range %s is empty", l.excerpt(r))
	}
	return lo, hi
}

// pattern returns the text of pattern("..."); ok is false when n is something else.
func (l *lowerer) pattern(n ast.Node) (text string, ok bool) {
	name, args, isCall := callOf(n)
	if !isCall || name != "pattern" {
		return "", false
	}
	l.arguments(n, name, args, 1)
	text = l.constantText(args[0], "a pattern")
	p, err := ParsePattern(text)
	if err != nil {
		l.refuse(args[0], "", "%s", err.Error())
	}
	if whole, ok := p.Name(); ok {
		l.refuse(args[0], fmt.Sprintf("compare with %q, or write a * for any characters", whole), "the pattern %q has no star", text)
	}
	return text, true
}

// inPattern lowers x in pattern(text); first is true if x was first read here.
func (l *lowerer) inPattern(n *ast.BinaryNode, text string, x value, first bool) *ir.Node {
	name, ok := l.nameRead(x)
	switch {
	case x.node.Type != stubs.Name:
		l.refuse(n.Left, "", "a pattern matches names, and %s is %s", l.excerpt(n.Left), describe(x))
	case !ok:
		l.refuse(n.Left, "write task.name, task.section, task.labels.NAME or another state stub; for open sections, task.sections[pattern(...)] > duration(\"0s\")",
			"a pattern matches what a state stub reads, and %s is something else", l.excerpt(n.Left))
	}
	matched := name
	matched.pattern = text
	return l.taken(n, name, matched, first, stubs.Bool)
}

// inStub looks for x among the elements of a list stub.
func (l *lowerer) inStub(n *ast.BinaryNode, right ast.Node, src ir.Source, x value) *ir.Node {
	if x.node.Type != stubs.Name {
		l.refuse(n, `write "name" in `+l.excerpt(right), "%s holds names, and %s is %s", l.excerpt(right), l.excerpt(n.Left), describe(x))
	}
	local := l.local(stubs.Name)
	element := l.node(right, ir.OpLocal, stubs.Name)
	element.Index = local
	anyOf := l.node(n, ir.OpAny, stubs.Bool, nil, l.node(n, ir.OpEq, stubs.Bool, element, l.use(n.Left, x).node))
	anyOf.Source, anyOf.Index = src, local
	return anyOf
}
