package lang

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

var (
	// Verdicts and Effects are the names of these functions.
	Verdicts = map[string]bool{"continue": true, "throw": true, "switch": true}
	Effects  = map[string]bool{"set": true, "add": true, "call": true, "interval": true, "cancel": true, "rank": true, "background": true}

	// valued are the functions with a value, in the order in which a hint names them.
	valued = []string{"duration", "bytes", "int", "float", "min", "max", "abs", "sqrt", "clamp", "hash", "chance", "pattern", "rate", "average",
		"take", "any", "all", "none", "count"}

	// Functions are the names of all functions.
	Functions = func() map[string]bool {
		all := maps.Clone(Verdicts)
		maps.Copy(all, Effects)
		for _, name := range valued {
			all[name] = true
		}
		return all
	}()
)

// callOf returns the name and the arguments when n is a call of a function by its name.
func callOf(n ast.Node) (name string, args []ast.Node, ok bool) {
	switch n := n.(type) {
	case *ast.BuiltinNode:
		return n.Name, n.Arguments, true
	case *ast.CallNode:
		if id, isName := n.Callee.(*ast.IdentifierNode); isName {
			return id.Value, n.Arguments, true
		}
	}
	return "", nil, false
}

// isEffect reports whether a call used as a statement is an effect: max and min of a state are.
func isEffect(name string, args []ast.Node) bool {
	if (name == "max" || name == "min") && len(args) > 0 {
		_, ofState := args[0].(*ast.StringNode)
		return ofState
	}
	return Effects[name]
}

// function lowers a call with a value.
func (l *lowerer) function(n ast.Node) value {
	if call, ok := n.(*ast.CallNode); ok {
		if s := quantileOf(call.Callee); s != nil {
			return l.quantile(call, s)
		}
	}
	name, args, ok := callOf(n)
	switch {
	case !ok:
		l.refuseMethod(n)
	case Verdicts[name]:
		l.refuse(n, "write a verdict at the end of the policy", "%s() is a verdict and no value", name)
	case Effects[name]:
		l.refuse(n, "write an effect as a statement of its own, outside conditions and values", "%s() is an effect and no value", name)
	}
	switch name {
	case "any", "all", "none", "count":
		return l.quantifier(n, name, args)
	case "duration":
		return l.measure(n, name, args, stubs.Duration, ParseDuration, `write it like duration("100ms") or duration("1.5s")`)
	case "bytes":
		return l.measure(n, name, args, stubs.Bytes, ParseSize, `write it like bytes("64MiB") or bytes("500kB")`)
	case "int", "float":
		return l.conversion(n, name, args)
	case "min", "max":
		return l.extreme(n, name, args)
	case "abs":
		return l.abs(n, args)
	case "hash":
		return l.hash(n, args)
	case "chance":
		return l.chance(n, args)
	case "sqrt":
		return l.sqrt(n, args)
	case "clamp":
		return l.clamp(n, args)
	case "rate", "average":
		return l.trendRead(n, name, args)
	case "take":
		return l.take(n, args)
	case "pattern":
		l.refuse(n, `write task.name in pattern("GET /admin/*")`, "pattern() is allowed only after in, or as the key of task.sections")
	}
	l.refuse(n, functionHint(name), "there is no function %s", name)
	return value{}
}

func functionHint(name string) string {
	if hint, ok := instead[name]; ok {
		return hint
	}
	if s := Suggest(name, slices.Collect(maps.Keys(Functions))); s != "" {
		return "did you mean " + s + "?"
	}
	last := len(valued) - 1
	return "the functions are " + strings.Join(valued[:last], ", ") + " and " + valued[last]
}

// arguments checks their number.
func (l *lowerer) arguments(n ast.Node, name string, args []ast.Node, want int) {
	if len(args) == want {
		return
	}
	noun := "arguments"
	if want == 1 {
		noun = "argument"
	}
	l.refuse(n, "", "%s takes %d %s, not %d", name, want, noun, len(args))
}

// measure lowers duration("...") and bytes("...").
func (l *lowerer) measure(n ast.Node, name string, args []ast.Node, t stubs.Type, parse func(string) (int64, error), hint string) value {
	l.arguments(n, name, args, 1)
	i, err := parse(l.constantText(args[0], "what "+name+" reads"))
	if err != nil {
		l.refuse(args[0], hint, "%s", err.Error())
	}
	return value{node: l.constant(n, t, uint64(i))}
}

// conversion lowers int(x) and float(x).
func (l *lowerer) conversion(n ast.Node, name string, args []ast.Node) value {
	if len(args) != 2 {
		l.arguments(n, name, args, 1)
	}
	reads := len(l.prog.Reads)
	v := l.value(args[0])
	if v.node.Type == stubs.Name || len(args) == 2 {
		return l.number(n, name, args, v, reads)
	}
	switch t := v.node.Type; {
	case t == stubs.Int && name == "int", t == stubs.Float && name == "float":
		return v
	case t == stubs.Int:
		return value{node: l.float(n, v.node)}
	case t == stubs.Float:
		return value{node: l.folded(n, ir.OpInt, stubs.Int, v.node)}
	case t == stubs.Duration:
		l.refuse(n, fmt.Sprintf(`divide by a unit, as in %s / duration("1ms")`, l.excerpt(args[0])), "%s is a duration", l.excerpt(args[0]))
	case t == stubs.Bytes:
		l.refuse(n, fmt.Sprintf(`divide by a unit, as in %s / bytes("1MiB")`, l.excerpt(args[0])), "%s is a size in bytes", l.excerpt(args[0]))
	default:
		l.refuse(n, "", "%s converts numbers, and %s is %s", name, l.excerpt(args[0]), describe(v))
	}
	return value{}
}
