package lang

import (
	"fmt"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// MaxReason is the greatest length of a throw's reason, in bytes.
const MaxReason = 256

// tail lowers the end of a path of the policy: a verdict, or an effect with an implied continue().
func (l *lowerer) tail(n ast.Node) *ir.Node {
	switch n := n.(type) {
	case *ast.ConditionalNode:
		return l.chosen(l.node(n, ir.OpIf, stubs.Verdict, l.condition(n), l.tail(n.Exp1), l.tail(n.Exp2)))
	case *ast.VariableDeclaratorNode:
		return l.let(n, func() *ir.Node { return l.tail(n.Expr) })
	case *ast.SequenceNode:
		return l.sequence(n, l.tail)
	}
	name, args, ok := callOf(n)
	switch {
	case ok && Verdicts[name]:
		return l.verdict(n, name, args)
	case ok && isEffect(name, args):
		return l.node(n, ir.OpSeq, stubs.Verdict, l.effect(n), l.node(n, ir.OpVerdict, stubs.Verdict))
	}
	v := l.value(n)
	l.refuse(n, `write ... ? throw("reason") : continue()`, "a policy ends in a verdict, and %s is %s", l.excerpt(n), describe(v))
	return nil
}

// sequence lowers the effects of n, and then its last node by calling last. It keeps the order of
// the text, which is the order of the sites.
func (l *lowerer) sequence(n *ast.SequenceNode, last func(ast.Node) *ir.Node) *ir.Node {
	var first []*ir.Node
	for _, e := range n.Nodes[:len(n.Nodes)-1] {
		first = append(first, l.effect(e))
	}
	body := last(n.Nodes[len(n.Nodes)-1])
	for i := len(first) - 1; i >= 0; i-- {
		body = l.node(n, ir.OpSeq, body.Type, first[i], body)
	}
	return body
}

// effect lowers the statements before the end of a path: effects, and choices between effects.
func (l *lowerer) effect(n ast.Node) *ir.Node {
	switch n := n.(type) {
	case *ast.ConditionalNode:
		return l.chosen(l.node(n, ir.OpIf, stubs.Unit, l.condition(n), l.effect(n.Exp1), l.effect(n.Exp2)))
	case *ast.VariableDeclaratorNode:
		return l.let(n, func() *ir.Node { return l.effect(n.Expr) })
	case *ast.SequenceNode:
		return l.sequence(n, l.effect)
	}
	name, args, ok := callOf(n)
	switch {
	case ok && isEffect(name, args):
		return l.site(n, name, args)
	case ok && Verdicts[name]:
		l.refuse(n, "write the verdict at the end, after the effects", "%s() does not end the policy here", name)
	}
	v := l.value(n)
	l.refuse(n, `name it with let x = ...;, or write set("name", value)`, "%s is %s that nothing uses", l.excerpt(n), describe(v))
	return nil
}

// chosen records a choice in the text.
func (l *lowerer) chosen(choice *ir.Node) *ir.Node {
	l.prog.Choices = append(l.prog.Choices, choice)
	return choice
}

// condition lowers the condition of a choice.
func (l *lowerer) condition(n *ast.ConditionalNode) *ir.Node {
	if n.Cond == n.Exp1 {
		l.refuse(n, "write a ? b : c", "there is no operator ?:")
	}
	return l.boolean(n.Cond, "the condition")
}

// boolean lowers n, which must be a bool; what names its part in an error.
func (l *lowerer) boolean(n ast.Node, what string) *ir.Node {
	v := l.value(n)
	if v.node.Type != stubs.Bool {
		hint := "compare it, as in x > y"
		if v.node.Type == stubs.Name {
			hint = "compare it, as in " + l.excerpt(n) + ` == "a"`
		}
		if key, ok := l.nameRead(v); ok && (key.id == stubs.TaskLabels || key.id == stubs.ArrivingLabels) {
			hint = "write " + l.excerpt(n) + ` != ""`
		}
		l.refuse(n, hint, "%s must be a bool, and %s is %s", what, l.excerpt(n), describe(v))
	}
	return v.node
}

// binding is a name given by let.
type binding struct {
	name string
	used bool
	value
}

// let lowers a declaration in front of a body. A constant or a read gets no local: its name stands
// for it.
func (l *lowerer) let(n *ast.VariableDeclaratorNode, body func() *ir.Node) *ir.Node {
	l.checkLetName(n)
	v := l.value(n.Value)
	if v.node.Type == stubs.NameList {
		l.refuse(n.Value, "use it where it is needed", "a list cannot be named")
	}
	depth := len(l.scope)
	defer func() {
		if !l.scope[depth].used && !v.node.Any(func(n *ir.Node) bool { return n.Op == ir.OpTake }) {
			l.unused(n)
		}
		l.scope = l.scope[:depth]
	}()
	if v.node.Op == ir.OpConst || v.node.Op == ir.OpRead {
		l.scope = append(l.scope, binding{name: n.Name, value: v})
		return body()
	}
	local := l.local(v.node.Type)
	use := &ir.Node{Op: ir.OpLocal, Type: v.node.Type, Index: local}
	named := value{node: use, enum: v.enum, read: v.read}
	if v.node.Op == ir.OpRead {
		named.read = v.node
	}
	l.scope = append(l.scope, binding{name: n.Name, value: named})
	inner := body()
	let := l.node(n, ir.OpLet, inner.Type, v.node, inner)
	let.Index = local
	return let
}

// unused records a declaration with a name that nothing uses.
func (l *lowerer) unused(n *ast.VariableDeclaratorNode) {
	name := l.tokens[l.at[n.Location().From]]
	l.prog.Unused = append(l.prog.Unused, &ir.Node{Pos: l.bytes[name.From], End: l.bytes[name.To]})
}

func (l *lowerer) checkLetName(n *ast.VariableDeclaratorNode) {
	const hint = "choose another name"
	for _, b := range l.scope {
		if b.name == n.Name {
			l.refuse(n, hint, "%s is already the name of a value", n.Name)
		}
	}
	if _, group := Groups[n.Name]; group || Functions[n.Name] || n.Name == "state" {
		l.refuse(n, hint, "%s already means something else", n.Name)
	}
}

// verdict lowers continue(), throw("reason"), throw("reason", retry) and switch().
func (l *lowerer) verdict(n ast.Node, name string, args []ast.Node) *ir.Node {
	v := l.node(n, ir.OpVerdict, stubs.Verdict)
	switch name {
	case "continue":
		l.arguments(n, name, args, 0)
		return v
	case "switch":
		l.arguments(n, name, args, 0)
		v.Imm = uint64(stubs.Switch)
	case "throw":
		v.Imm = uint64(stubs.Throw)
		v.Index = l.reason(n, args)
		if len(args) == 2 {
			v.A = l.retry(args[1])
		}
	}
	if gone := l.env.On & stubs.Ends; gone != 0 {
		l.refuse(n, "evaluate it on other events, or write continue()", "%s() has no task to act on: the policy is evaluated on %s", name, gone)
	}
	return v
}

// retry lowers the time after which the caller may try again.
func (l *lowerer) retry(n ast.Node) *ir.Node {
	v := l.value(n)
	if v.node.Type != stubs.Duration {
		hint := unitHint(v, l.excerpt(n), stubs.Duration)
		if v.plain() { // of seconds, as in Retry-After
			hint = fmt.Sprintf("write duration(%q)", fmt.Sprint(stubs.Value(v.node.Imm, v.node.Type))+"s")
		}
		l.refuse(n, hint, "the retry time is a duration, and %s is %s", l.excerpt(n), describe(v))
	}
	return v.node
}

// reason returns the index of a throw's reason.
func (l *lowerer) reason(n ast.Node, args []ast.Node) int {
	if len(args) != 2 {
		l.arguments(n, "throw", args, 1)
	}
	text := l.constantText(args[0], "a reason")
	switch {
	case text == "":
		l.refuse(args[0], "say why the task is interrupted", "the reason is empty")
	case len(text) > MaxReason:
		l.refuse(args[0], "", "the reason has %d bytes, and %d are allowed", len(text), MaxReason)
	}
	if i, ok := l.reasons[text]; ok {
		return i
	}
	l.reasons[text] = len(l.prog.Reasons)
	l.prog.Reasons = append(l.prog.Reasons, text)
	return l.reasons[text]
}
