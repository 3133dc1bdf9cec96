package policy

import (
	"fmt"
	"maps"
	"slices"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/stubs"
)

var (
	verdicts  = map[string]bool{"continue": true, "throw": true, "switch": true}
	effects   = map[string]bool{"set": true, "add": true, "call": true, "interval": true, "cancel": true, "rank": true, "background": true}
	functions = map[string]bool{
		"continue": true, "throw": true, "switch": true,
		"set": true, "add": true, "call": true, "interval": true, "cancel": true, "rank": true, "background": true,
		"any": true, "all": true, "none": true, "count": true,
		"duration": true, "bytes": true, "int": true, "float": true, "min": true, "max": true, "abs": true, "pattern": true, "rate": true, "average": true,
	}
)

// instead says what to write for functions that people try.
var instead = map[string]string{
	"len": "write queue.length, or count(task.stack, true)", "now": "write task.elapsed, task.running or another duration",
	"date": "write task.elapsed, task.running or another duration", "one": "write count(...) == 1",
	"filter": "write count, any, all or none", "map": "write count, any, all or none", "find": "write any",
	"sum": "write count", "string": "strings cannot be built", "rand": "policies are deterministic",
	"kill": `write throw("reason")`, "preempt": "write switch()", "yield": "write switch()", "return": "write continue()",
	"log": `write call("F") with a function registered as safe`, "print": `write call("F") with a function registered as safe`,
	"if": "write if x { ... } else { ... }, or x ? a : b",
}

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

// isEffect reports whether a call that stands on its own is an effect: max and min are, of a state.
func isEffect(name string, args []ast.Node) bool {
	if (name == "max" || name == "min") && len(args) > 0 {
		_, ofState := args[0].(*ast.StringNode)
		return ofState
	}
	return effects[name]
}

// function lowers a call that has a value.
func (l *lowerer) function(n ast.Node) value {
	if call, ok := n.(*ast.CallNode); ok {
		if called, ok := call.Callee.(*ast.MemberNode); ok {
			return l.quantile(call, called)
		}
	}
	name, args, _ := callOf(n)
	switch {
	case verdicts[name]:
		l.refuse(n, "a verdict stands at the end of the policy", "%s() is a verdict and no value", name)
	case effects[name]:
		l.refuse(n, "an effect stands on its own, not inside a condition or a value", "%s() is an effect and no value", name)
	}
	switch name {
	case "any", "all", "none", "count":
		return l.quantifier(n, name, args)
	case "duration":
		return l.measure(n, name, args, stubs.Duration, parseDuration, `write it like duration("100ms") or duration("1.5s")`)
	case "bytes":
		return l.measure(n, name, args, stubs.Bytes, parseSize, `write it like bytes("64MiB") or bytes("500kB")`)
	case "int", "float":
		return l.conversion(n, name, args)
	case "min", "max":
		return l.extreme(n, name, args)
	case "abs":
		return l.abs(n, args)
	case "rate", "average":
		return l.trendRead(n, name, args)
	case "pattern":
		l.refuse(n, `write task.name in pattern("GET /admin/*")`, "pattern() stands behind in, or as the key of task.sections")
	}
	l.refuse(n, functionHint(name), "there is no function %s", name)
	return value{}
}

func functionHint(name string) string {
	if hint, ok := instead[name]; ok {
		return hint
	}
	if s := suggest(name, slices.Collect(maps.Keys(functions))); s != "" {
		return "did you mean " + s + "?"
	}
	return "the functions are duration, bytes, int, float, min, max, abs, pattern, rate, average, any, all, none and count"
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
	l.arguments(n, name, args, 1)
	v := l.value(args[0])
	switch t := v.node.Type; {
	case t == stubs.Int && name == "int", t == stubs.Float && name == "float":
		return v
	case t == stubs.Int:
		return value{node: l.float(n, v.node)}
	case t == stubs.Float:
		return value{node: l.folded(n, OpInt, stubs.Int, v.node)}
	case t == stubs.Duration:
		l.refuse(n, fmt.Sprintf(`divide by a unit, as in %s / duration("1ms")`, l.excerpt(args[0])), "%s is a duration", l.excerpt(args[0]))
	case t == stubs.Bytes:
		l.refuse(n, fmt.Sprintf(`divide by a unit, as in %s / bytes("1MiB")`, l.excerpt(args[0])), "%s is a size in bytes", l.excerpt(args[0]))
	default:
		l.refuse(n, "", "%s converts numbers, and %s is %s", name, l.excerpt(args[0]), describe(v))
	}
	return value{}
}

// extreme lowers min and max of two or more numbers of one type.
func (l *lowerer) extreme(n ast.Node, name string, args []ast.Node) value {
	if len(args) < 2 {
		l.refuse(n, "", "%s takes 2 or more arguments, not %d", name, len(args))
	}
	op, ofFloats := OpLt, OpMin
	if name == "max" {
		op, ofFloats = OpGt, OpMax
	}
	best := l.value(args[0])
	for _, an := range args[1:] {
		v := l.value(an)
		best, v = l.adapt(args[0], best, v), l.adapt(an, v, best)
		if best.node.Type != v.node.Type {
			l.mismatch(n, args[0], best, an, v)
		}
		if !v.node.Type.Numeric() {
			l.refuse(n, "", "%s compares numbers, and %s is %s", name, l.excerpt(an), describe(v))
		}
		if v.node.Type == stubs.Float {
			best = value{node: l.folded(n, ofFloats, stubs.Float, best.node, v.node)}
			continue
		}
		best = l.shared(n, best, func(a value) value {
			return l.shared(n, v, func(b value) value { return l.better(n, op, a, b) })
		})
	}
	return best
}

// better is op(a, b) ? a : b. Of floats it would be either of the two where one is NaN.
func (l *lowerer) better(n ast.Node, op Op, a, b value) value {
	c := l.folded(n, op, stubs.Bool, l.use(n, a).node, l.use(n, b).node)
	if c.Op == OpConst {
		if c.Imm == 1 {
			return a
		}
		return b
	}
	return value{node: l.node(n, OpIf, a.node.Type, c, l.use(n, a).node, l.use(n, b).node)}
}

// abs lowers abs(x).
func (l *lowerer) abs(n ast.Node, args []ast.Node) value {
	l.arguments(n, "abs", args, 1)
	v := l.value(args[0])
	t := v.node.Type
	if !t.Numeric() {
		l.refuse(n, "", "abs takes a number, and %s is %s", l.excerpt(args[0]), describe(v))
	}
	return l.shared(n, v, func(x value) value {
		c := l.folded(n, OpLt, stubs.Bool, l.use(n, x).node, l.constant(n, t, 0))
		minus := func() *Node { return l.folded(n, OpNeg, t, l.use(n, x).node) }
		if c.Op == OpConst && c.Imm == 0 {
			return x
		}
		if c.Op == OpConst {
			return value{node: minus()}
		}
		return value{node: l.node(n, OpIf, t, c, minus(), l.use(n, x).node)}
	})
}
