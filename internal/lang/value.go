package lang

import (
	"fmt"
	"math"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// value is a lowered expression with a value.
type value struct {
	node      *ir.Node
	enum      bool     // a task's kind: it is compared with the names of stubs.Kinds only
	constText bool     // a string constant: its word is set where it is used as a name
	text      string   // of a string constant
	read      *ir.Node // of a let name: the read it names
}

func (v value) constant() bool { return v.node.Op == ir.OpConst }

// plain reports whether v is a number without a unit, as written in the text.
func (v value) plain() bool {
	return v.constant() && (v.node.Type == stubs.Int || v.node.Type == stubs.Float)
}

// value lowers an expression with a value.
func (l *lowerer) value(n ast.Node) value {
	switch n := n.(type) {
	case *ast.BoolNode:
		return value{node: l.constant(n, stubs.Bool, stubs.FromBool(n.Value))}
	case *ast.IntegerNode:
		return value{node: l.constant(n, stubs.Int, uint64(n.Value))}
	case *ast.FloatNode:
		return value{node: l.constant(n, stubs.Float, math.Float64bits(n.Value))}
	case *ast.StringNode:
		return l.stringConstant(n)
	case *ast.IdentifierNode:
		return l.identifier(n)
	case *ast.MemberNode:
		return l.member(n)
	case *ast.PointerNode:
		return l.element(n)
	case *ast.UnaryNode:
		return l.unary(n)
	case *ast.BinaryNode:
		return l.binary(n)
	case *ast.ConditionalNode:
		return l.choice(n)
	case *ast.VariableDeclaratorNode:
		return l.letValue(n)
	case *ast.CallNode, *ast.BuiltinNode:
		return l.function(n)
	}
	return l.refusedNode(n)
}

// letValue lowers a declaration in front of a value.
func (l *lowerer) letValue(n *ast.VariableDeclaratorNode) value {
	var v value
	node := l.let(n, func() *ir.Node {
		v = l.name(n.Expr, l.value(n.Expr))
		return v.node
	})
	v.constText = v.constText && node.Op == ir.OpConst // in a local it is an ordinary name
	v.node = node
	return v
}

// refusedNode explains the syntax of expr that policies do not have.
func (l *lowerer) refusedNode(n ast.Node) value {
	switch n.(type) {
	case *ast.NilNode:
		l.refuse(n, "every state stub always has a value; an unset name is \"\"", "there is no nil")
	case *ast.ArrayNode:
		l.refuse(n, "write a list only after in, as in task.name in [\"a\", \"b\"]", "a list is not a value")
	case *ast.MapNode:
		l.refuse(n, "compare the names one by one", "there are no maps")
	case *ast.SliceNode:
		l.refuse(n, "look at elements with any, all, none and count", "there are no slices")
	case *ast.SequenceNode:
		l.refuse(n, "write effects as statements of their own, outside conditions and values", "%s is not a value", l.excerpt(n))
	case *ast.ChainNode:
		l.refuse(n, refused["?."], "there is no operator ?.")
	}
	l.refuse(n, "", "%s is not part of the policy language", l.excerpt(n))
	return value{}
}

func (l *lowerer) stringConstant(n *ast.StringNode) value {
	if len(n.Value) > stubs.MaxName {
		l.refuse(n, "", "the string has %d bytes, and %d are allowed", len(n.Value), stubs.MaxName)
	}
	if strings.ContainsFunc(n.Value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		l.refuse(n, "", "the string holds control characters")
	}
	return value{node: l.constant(n, stubs.Name, 0), constText: true, text: n.Value}
}

// constantText returns the string constant n; what names its part in an error.
func (l *lowerer) constantText(n ast.Node, what string) string {
	v := l.value(n)
	if !v.constText {
		l.refuse(n, `write "..."; strings cannot be built`, "%s must be a string constant, and %s is %s", what, l.excerpt(n), describe(v))
	}
	return v.text
}

// name gives a string constant the word that it is compared by.
func (l *lowerer) name(n ast.Node, v value) value {
	if !v.constText {
		return v
	}
	id := stubs.Intern(v.text)
	l.prog.Names[id] = v.text
	v.node.Imm = uint64(id)
	return v
}

// identifier lowers a name given by let.
func (l *lowerer) identifier(n *ast.IdentifierNode) value {
	for i := range l.scope {
		if b := &l.scope[i]; b.name == n.Value {
			b.used = true
			return l.use(n, b.value)
		}
	}
	if g, ok := Groups[n.Value]; ok {
		l.refuse(n, "write one of "+strings.Join(g, ", "), "%s is a group of state stubs", n.Value)
	}
	if n.Value == "state" {
		l.refuse(n, DidYouMean("", l.stateNames()), "state needs the name of a state, as in state.NAME")
	}
	if Functions[n.Value] {
		l.refuse(n, "write "+n.Value+"(...)", "%s is a function", n.Value)
	}
	if strings.HasPrefix(n.Value, "$") {
		l.refuse(n, "name the state stub, as in task.running", "there is no %s", n.Value)
	}
	known := []string{"true", "false"}
	for _, b := range l.scope {
		known = append(known, b.name)
	}
	for g, paths := range Groups {
		known = append(append(known, g), paths...)
	}
	hint := "state stubs begin with task, arriving, tenant, class, queue, loop, runtime, clock, event or state; a name is a string in quotes"
	_, isState := l.env.States[n.Value]
	switch s := Suggest(n.Value, known); {
	case isState:
		hint = fmt.Sprintf("write state.%s for its value, and %q for its name", n.Value, n.Value)
	case insteadOf[n.Value] != "":
		hint = insteadOf[n.Value]
	case instead[n.Value] != "":
		hint = instead[n.Value]
	case s != "":
		hint = "did you mean " + s + "?"
	}
	l.refuse(n, hint, "there is no %s", n.Value)
	return value{}
}

// use makes another occurrence of a constant or a local.
func (l *lowerer) use(at ast.Node, v value) value {
	n := l.node(at, v.node.Op, v.node.Type)
	n.Index, n.Imm = v.node.Index, v.node.Imm
	v.node = n
	return v
}

// shared makes a value usable several times in body: anything except a constant, a local or a read
// is computed once, into a local. The body copies it with use.
func (l *lowerer) shared(at ast.Node, v value, body func(value) value) value {
	switch v.node.Op {
	case ir.OpConst, ir.OpLocal, ir.OpRead:
		return body(v)
	}
	local := l.local(v.node.Type)
	template := v
	template.node = &ir.Node{Op: ir.OpLocal, Type: v.node.Type, Index: local}
	result := body(template)
	let := l.node(at, ir.OpLet, result.node.Type, v.node, result.node)
	let.Index = local
	result.node = let
	return result
}

// choice lowers a ?: or if with a value.
func (l *lowerer) choice(n *ast.ConditionalNode) value {
	c := l.condition(n)
	a, b := l.value(n.Exp1), l.value(n.Exp2)
	a, b = l.adapt(n.Exp1, a, b), l.adapt(n.Exp2, b, a)
	if a.node.Type != b.node.Type {
		l.mismatch(n, n.Exp1, a, n.Exp2, b)
	}
	a, b = l.name(n.Exp1, a), l.name(n.Exp2, b)
	return value{node: l.chosen(l.node(n, ir.OpIf, a.node.Type, c, a.node, b.node)), enum: a.enum && b.enum}
}
