package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

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

// stateByKey lowers state.NAME[key].
func (l *lowerer) stateByKey(n ast.Node, name string, key ast.Node) value {
	t, ok := l.env.States[name]
	if !ok {
		l.noState(n, name)
	}
	if !l.env.Tables[name].Keyed {
		hint := "declare it with keys, or remove what follows it"
		if s, isConstant := key.(*ast.StringNode); isConstant {
			hint = "remove " + s.Value
		}
		l.refuse(n, hint, "state.%s is %s and has no fields", name, article(t))
	}
	return value{node: l.readState(n, name, l.key(key))}
}

// readState reads a state, or one of its keys.
func (l *lowerer) readState(n ast.Node, name string, by *KeyOf) *Node {
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

// LookUps returns how many keys of keyed states and buckets the program reads.
func (p *Program) LookUps() (count int) {
	for _, r := range p.Reads {
		if r.By != nil || r.Burst > 0 {
			count++
		}
	}
	return count
}

// key lowers the key of a keyed state. The runtime looks the value up before the evaluation, so the
// key must be known before it.
func (l *lowerer) key(n ast.Node) *KeyOf {
	v := l.value(n)
	if v.constText {
		return &KeyOf{Constant: true, Text: v.text}
	}
	read := v.node
	if v.read != nil {
		read = v.read
	}
	i := slices.IndexFunc(l.prog.Reads, func(r Read) bool { return r.Offset == read.Index && r.Stub != stubs.State })
	if read.Op != OpRead || v.node.Type != stubs.Name || v.enum || i < 0 {
		l.refuse(n, "write one of "+strings.Join(keyStubs, ", ")+`, or a string in quotes`,
			"the key of a state is a name that a state stub has, or a string constant, and %s is %s", l.excerpt(n), describe(v))
	}
	return &KeyOf{Offset: read.Index, Text: l.prog.Reads[i].String()}
}

// keyStubs are the stubs with values usable as keys.
var keyStubs = func() (paths []string) {
	for _, s := range stubs.Catalogue {
		if s.Type != stubs.Name || s.Enum {
			continue
		}
		path := s.Path
		if s.Keyed {
			path += ".NAME"
		}
		paths = append(paths, path)
	}
	return paths
}()

// target lowers the state of an effect, and its key if it has keys: the first or the first two of
// args. what names the last argument.
func (l *lowerer) target(n ast.Node, effect, what string, args []ast.Node) (name string, t stubs.Type, by *KeyOf) {
	name = l.constantText(args[0], "the name of a state")
	t, ok := l.env.States[name]
	if !ok {
		l.noState(args[0], name)
	}
	switch keyed := l.env.Tables[name].Keyed; {
	case keyed && len(args) == 2:
		l.refuse(n, fmt.Sprintf("write %s(%q, tenant.name, %s), or another name as the key", effect, name, what), "the state %s has a value for each key", name)
	case !keyed && len(args) == 3:
		l.refuse(args[1], fmt.Sprintf("write %s(%q, %s), or declare the state with keys", effect, name, what), "the state %s has no keys", name)
	case keyed:
		by = l.key(args[1])
	}
	return name, t, by
}

// take lowers take("bucket", tokens) and take("bucket", key, tokens): a bool with an effect.
func (l *lowerer) take(n ast.Node, args []ast.Node) value {
	if len(args) != 3 {
		l.arguments(n, "take", args, 2)
	}
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
	taken := l.node(n, OpTake, stubs.Bool, v.node, l.readState(n, name, by))
	return value{node: l.written(n, Site{Effect: stubs.Take, Name: name, By: by, Type: stubs.Float}, taken)}
}
