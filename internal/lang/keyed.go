package lang

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// MaxLookUps is the greatest number of keys and buckets that a policy reads. The runtime looks each
// up before an evaluation.
const MaxLookUps = 64

// isState reports whether n is the word state, which a state's name follows.
func isState(n ast.Node) bool {
	id, ok := n.(*ast.IdentifierNode)
	return ok && id.Value == "state"
}

// stateAndKey splits state.NAME[key] and state.NAME[key][key]; ok is false for anything else.
func stateAndKey(n *ast.MemberNode) (name ast.Node, key []ast.Node, ok bool) {
	for {
		if isState(n.Node) {
			slices.Reverse(key)
			return n.Property, key, len(key) > 0
		}
		key = append(key, n.Property)
		if n, ok = n.Node.(*ast.MemberNode); !ok {
			return nil, nil, false
		}
	}
}

// stateByKey lowers state.NAME[key].
func (l *lowerer) stateByKey(n ast.Node, name string, key []ast.Node) value {
	t, ok := l.env.States[name]
	if !ok {
		l.noState(n, name)
	}
	if !l.env.Tables[name].Keyed {
		hint := "declare it with keys, or remove what follows it"
		if s, isConstant := key[0].(*ast.StringNode); isConstant {
			hint = "remove " + s.Value
		}
		l.refuse(n, hint, "state.%s is %s and has no fields", name, article(t))
	}
	return value{node: l.readState(n, name, l.key(n, name, key))}
}

// readState reads a state, or one of its keys.
func (l *lowerer) readState(n ast.Node, name string, by *ir.KeyOf) *ir.Node {
	key := readKey{id: stubs.State, key: name}
	if by != nil {
		key.by, key.keyed = *by, true
	}
	node := l.read(n, key, l.env.States[name], 1)
	if l.prog.LookUps() > MaxLookUps {
		l.refuse(n, "split it into several policies", "the policy reads more than %d keys and buckets", MaxLookUps)
	}
	return node
}

// target lowers the state of an effect, and its key if it has keys: all of args but the last. what
// names the last argument.
func (l *lowerer) target(n ast.Node, effect, what string, args []ast.Node) (name string, t stubs.Type, by *ir.KeyOf) {
	name = l.constantText(args[0], "the name of a state")
	t, ok := l.env.States[name]
	if !ok {
		l.noState(args[0], name)
	}
	key := args[1 : len(args)-1]
	switch table := l.env.Tables[name]; {
	case table.Keyed && len(key) == 0:
		l.refuse(n, fmt.Sprintf("write %s(%q, %s, %s), or another %v as the key", effect, name, strings.Join(table.By.Example(), ", "), what, table.By),
			"the state %s has a value for each key", name)
	case !table.Keyed && len(key) > 0:
		l.refuse(key[0], fmt.Sprintf("write %s(%q, %s), or declare the state with keys", effect, name, what), "the state %s has no keys", name)
	case table.Keyed:
		by = l.key(n, name, key)
	}
	return name, t, by
}

// withKey checks the number of arguments of an effect on a state: two, and the parts of a key.
func (l *lowerer) withKey(n ast.Node, effect string, args []ast.Node) {
	if len(args) < 2 || len(args) > 2+ir.MaxKeyParts {
		l.arguments(n, effect, args, 2)
	}
}

// take lowers take("bucket", tokens) and take("bucket", key, tokens): a bool with an effect.
func (l *lowerer) take(n ast.Node, args []ast.Node) value {
	l.withKey(n, "take", args)
	if len(l.elements) > 0 {
		l.refuse(n, "take before: let ok = take(...);", "take() is in a predicate, and would take for each element")
	}
	name, t, by := l.target(n, "take", "tokens", args)
	if l.env.Tables[name].Burst == 0 {
		l.refuse(args[0], "declare it with rate and burst", "take() takes from a token bucket, and the state %s is %s", name, article(t))
	}
	last := args[len(args)-1]
	v := l.value(last)
	switch v.node.Type {
	case stubs.Float:
	case stubs.Int:
		v.node = l.float(last, v.node)
	default:
		hint := ""
		if v.node.Type == stubs.Duration {
			hint = fmt.Sprintf(`divide by a unit, as in %s / duration("1ms")`, l.excerpt(last))
		}
		l.refuse(last, hint, "a number of tokens is an int or a float, and %s is %s", l.excerpt(last), describe(v))
	}
	taken := l.node(n, ir.OpTake, stubs.Bool, v.node, l.readState(n, name, by))
	return value{node: l.written(n, ir.Site{Effect: stubs.Take, Name: name, By: by, Type: stubs.Float}, taken)}
}
