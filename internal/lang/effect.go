package lang

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// site lowers an effect.
func (l *lowerer) site(n ast.Node, name string, args []ast.Node) *ir.Node {
	s := ir.Site{Type: stubs.Unit}
	var operand *ir.Node
	switch name {
	case "set", "add", "max", "min":
		s.Effect = Writes[name]
		s.Name, s.By, operand = l.assignment(n, name, args)
	case "call":
		s.Effect = stubs.Call
		s.Name = l.safeFunc(n, args)
	case "interval":
		s.Effect = stubs.Interval
		operand = l.newInterval(n, args)
	case "cancel":
		s.Effect = stubs.Cancel
		l.arguments(n, name, args, 0)
	case "rank":
		s.Effect = stubs.Rank
		operand = l.rank(n, args)
	case "background":
		s.Effect = stubs.Background
		l.arguments(n, name, args, 0)
		l.oneTask(n, name)
	}
	if operand != nil {
		s.Type = operand.Type
	}
	return l.written(n, s, l.node(n, ir.OpEffect, stubs.Unit, operand))
}

// written makes e the operation that carries out the effect s.
func (l *lowerer) written(n ast.Node, s ir.Site, e *ir.Node) *ir.Node {
	if len(l.prog.Sites) == stubs.MaxSites {
		l.refuse(n, "split it into several policies", "the policy has more than %d effects", stubs.MaxSites)
	}
	s.Pos, e.Index = e.Pos, len(l.prog.Sites)
	l.prog.Sites = append(l.prog.Sites, s)
	return e
}

// Writes are the effects on states.
var Writes = map[string]stubs.Effect{"set": stubs.Set, "add": stubs.Add, "max": stubs.Max, "min": stubs.Min}

// assignment lowers the arguments of set, add, max and min: (name, value), with the key between
// them when the state has keys.
func (l *lowerer) assignment(n ast.Node, effect string, args []ast.Node) (string, *ir.KeyOf, *ir.Node) {
	l.withKey(n, effect, args)
	name, t, by := l.target(n, effect, "value", args)
	if l.env.Tables[name].Burst > 0 {
		l.refuse(args[0], fmt.Sprintf("write take(%q, ...)", name), "the state %s is a token bucket, which time fills and take() alone empties", name)
	}
	first, last := args[0], args[len(args)-1]
	if effect != "set" && !t.Numeric() {
		l.refuse(first, "write set(...)", "%s() is for numbers, and the state %s is %s", effect, name, article(t))
	}
	v := l.adapt(last, l.value(last), value{node: &ir.Node{Type: t}})
	if v.node.Type != t {
		hint := unitHint(v, l.excerpt(last), t)
		if v.node.Type == stubs.Float && t == stubs.Int {
			hint = fmt.Sprintf("write int(%s), or declare the state as a float, like 0.0", l.excerpt(last))
		}
		if hint == "" {
			hint = declareUnit(t, v.node.Type)
		}
		l.refuse(last, hint, "the state %s is %s and %s is %s", name, article(t), l.excerpt(last), describe(v))
	}
	return name, by, l.name(last, v).node
}

// safeFunc returns the function's name in call("F").
func (l *lowerer) safeFunc(n ast.Node, args []ast.Node) string {
	l.arguments(n, "call", args, 1)
	name := l.constantText(args[0], "the name of a function")
	if l.env.Funcs[name] {
		return name
	}
	hint := "register it with RegisterSafeFunc"
	if s := Suggest(name, slices.Collect(maps.Keys(l.env.Funcs))); s != "" {
		hint = "did you mean " + s + "?"
	}
	r := l.refusal(args[0], hint, "no function %q is registered as safe", name)
	r.NoFunc = name
	panic(r)
}

// newInterval lowers the argument of interval(d).
func (l *lowerer) newInterval(n ast.Node, args []ast.Node) *ir.Node {
	l.arguments(n, "interval", args, 1)
	if l.env.On&stubs.Tick == 0 {
		l.refuse(n, "", "interval() changes the interval of a time policy, and this one is evaluated on %s", l.env.On)
	}
	v := l.value(args[0])
	if v.node.Type != stubs.Duration {
		l.refuse(args[0], unitHint(v, l.excerpt(args[0]), stubs.Duration), "an interval is a duration, and %s is %s", l.excerpt(args[0]), describe(v))
	}
	if d := time.Duration(v.node.Imm); v.constant() && (d < MinInterval || d > MaxInterval) {
		l.refuse(args[0], "", "the interval %v is not between %v and %v", d, MinInterval, MaxInterval)
	}
	return v.node
}

// rank lowers the argument of rank(x).
func (l *lowerer) rank(n ast.Node, args []ast.Node) *ir.Node {
	l.arguments(n, "rank", args, 1)
	l.arrivalOnly(n, "rank")
	v := l.value(args[0])
	if !v.node.Type.Integral() {
		hint := ""
		if v.node.Type == stubs.Float {
			hint = fmt.Sprintf("write int(%s)", l.excerpt(args[0]))
		}
		l.refuse(args[0], hint, "a rank is an int, a duration or a size in bytes, and %s is %s", l.excerpt(args[0]), describe(v))
	}
	return v.node
}

// arrivalOnly refuses an effect on the arriving task in a policy with notifications other than
// enqueue.
func (l *lowerer) arrivalOnly(n ast.Node, name string) {
	if l.env.On != stubs.Enqueue {
		l.refuse(n, "evaluate the policy on enqueue alone", "%s() is about the task that arrives, and the policy is evaluated on %s", name, l.env.On)
	}
}

// oneTask refuses an effect in a policy if it would mean the arriving task on one
// notification and the task of task.* on another, or no task.
func (l *lowerer) oneTask(n ast.Node, name string) {
	switch on := l.env.On; {
	case on&stubs.Ends != 0:
		l.refuse(n, "evaluate it on other events", "%s() has no task to act on: the policy is evaluated on %s", name, on&stubs.Ends)
	case on&stubs.Enqueue != 0 && on != stubs.Enqueue:
		l.refuse(n, "make two policies of it", "%s() is about the arriving task on enqueue, and about another on %s", name, on&^stubs.Enqueue)
	}
}

// Bounds of the interval of a time policy.
const (
	MinInterval = 5 * time.Microsecond
	MaxInterval = 24 * time.Hour
)
