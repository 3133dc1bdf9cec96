package lang

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/stubs"
)

// Hints for authors with experience in other policy languages (CEL, Envoy's, OPA's Rego, expr):
// what to write instead. Nothing here gives these words a meaning.

const (
	likeVerdictThrow = `write throw("reason")`
	likeContinue     = "write continue()"
	likePattern      = `write x in pattern("a*"), in which * is for any characters`
	likeClock        = "write clock.hour, clock.minute or clock.weekday; or task.elapsed or another duration"
	likeLetters      = "names are compared as they are; give the task a label that has the letters you want"
	likeRequest      = "write task.name, or arriving.name on enqueue, which is the route or the method that is called; the rest of a request is in labels, see Options.Context of the middleware"
	likeLength       = "write queue.length, or count(task.stack, true)"
	likeRounding     = "write int(x), which drops the fraction"
	likeDelay        = `a policy holds no task back; throw("reason", duration("1s")) tells the caller when to come back, and rank(x) or background() let other tasks start first`
)

// instead has hints for functions of other languages.
var instead = map[string]string{
	"len": likeLength, "size": likeLength, "length": likeLength,
	"now":  "write task.elapsed, task.running or another duration; or clock.hour, clock.minute or clock.weekday",
	"date": likeClock, "time": likeClock, "timestamp": likeClock, "getHours": likeClock, "getDayOfWeek": likeClock,
	"one": "write count(...) == 1", "exists_one": "write count(...) == 1", "exists": "write any", "some": "write any", "every": "write all",
	"filter": "write count, any, all or none", "map": "write count, any, all or none", "find": "write any",
	"sum": "write count", "string": "strings cannot be built", "sprintf": "strings cannot be built", "concat": "strings cannot be built",
	"rand": "write chance(0.05), which is true that often", "random": "write chance(0.05), which is true that often",
	"has": `a label that is not set is ""; write task.labels.NAME != ""`, "exist": `a label that is not set is ""; write task.labels.NAME != ""`,
	"kill": likeVerdictThrow, "deny": likeVerdictThrow, "drop": likeVerdictThrow, "reject": likeVerdictThrow, "refuse": likeVerdictThrow, "shed": likeVerdictThrow,
	"abort": likeVerdictThrow, "block": likeVerdictThrow, "fail": likeVerdictThrow, "error": likeVerdictThrow, "violation": likeVerdictThrow,
	"allow": likeContinue, "accept": likeContinue, "permit": likeContinue, "pass": likeContinue, "admit": likeContinue, "return": likeContinue,
	"preempt": "write switch()", "yield": "write switch()", "suspend": "write switch()", "pause": "write switch()", "demote": "write background()",
	"delay": likeDelay, "hold": likeDelay, "wait": likeDelay, "sleep": likeDelay, "defer": likeDelay, "postpone": likeDelay, "throttle": likeDelay, "slow": likeDelay,
	"queue": likeDelay, "enqueue": likeDelay, "retry": likeDelay, "later": likeDelay,
	"log": `write call("F") with a function registered as safe`, "print": `write call("F") with a function registered as safe`,
	"if":       "write if x { ... } else { ... }, or x ? a : b",
	"re_match": likePattern, "regex": likePattern, "glob": likePattern, "hasPrefix": likePattern, "hasSuffix": likePattern,
	"startswith": likePattern, "endswith": likePattern, "like": likePattern,
	"lower": likeLetters, "upper": likeLetters, "lowerAscii": likeLetters, "upperAscii": likeLetters, "trim": likeLetters, "split": likeLetters,
	"floor": likeRounding, "trunc": likeRounding, "ceil": "write int(x) + 1", "round": "write int(x + 0.5)",
	"seconds": `divide by a unit, as in x / duration("1s")`, "getSeconds": `divide by a unit, as in x / duration("1s")`,
	"pow": "multiply with *", "uint": "write int(x)", "double": "write float(x)",
}

// insteadOf has hints for words in front of a dot.
var insteadOf = map[string]string{
	"request": likeRequest, "req": likeRequest, "http_request": likeRequest, "input": likeRequest, "headers": likeRequest, "ctx": likeRequest, "context": likeRequest,
	"source": likeRequest, "destination": likeRequest, "connection": likeRequest, "client": likeRequest, "user": likeRequest, "auth": likeRequest, "metadata": likeRequest,
	"response": "a policy is evaluated while a task runs, and sees nothing of its result",
	"data":     "write what differs into a state, which the program or another policy sets",
	"object":   likeRequest, "params": likeRequest, "resource": likeRequest,
}

// textual are the methods of strings that a pattern can replace: the parts of the pattern before
// and after the text to find.
var textual = map[string][2]string{
	"startsWith": {"", "*"}, "startswith": {"", "*"}, "hasPrefix": {"", "*"},
	"endsWith": {"*", ""}, "endswith": {"*", ""}, "hasSuffix": {"*", ""},
	"contains": {"*", "*"}, "includes": {"*", "*"}, "indexOf": {"*", "*"},
}

// patternHint suggests the pattern that replaces a method of strings.
func patternHint(method, x, text string) string {
	around := textual[method]
	return fmt.Sprintf("write %s in pattern(%q)", x, around[0]+strings.ReplaceAll(text, "*", `\*`)+around[1])
}

// methodHint suggests what to write instead of x.method(args).
func (l *lowerer) methodHint(m *ast.MemberNode, method string, args []ast.Node) string {
	x := l.excerpt(m.Node)
	if _, ok := textual[method]; ok && len(args) == 1 {
		if text, ok := args[0].(*ast.StringNode); ok {
			return patternHint(method, x, text.Value)
		}
		return likePattern
	}
	switch hint, known := instead[method]; {
	case method == "matches":
		return refused[method]
	case (method == "size" || method == "length") && x != "task.stack":
		return "names have no length; compare them with ==, or with patterns"
	case known:
		return hint
	case Functions[method]:
		return fmt.Sprintf("write %s(%s, ...); there are no methods", method, x)
	}
	return "there are no methods"
}

// isStub reports whether m has the form of a state, or of a state stub with its key.
func isStub(m *ast.MemberNode) bool {
	switch base := m.Node.(type) {
	case *ast.IdentifierNode:
		field, _ := m.Property.(*ast.StringNode)
		if field == nil {
			return false
		}
		_, ok := stubs.Lookup(base.Value + "." + field.Value)
		return ok || base.Value == "state"
	case *ast.MemberNode:
		group, _ := base.Node.(*ast.IdentifierNode)
		field, _ := base.Property.(*ast.StringNode)
		if group != nil && field != nil {
			s, ok := stubs.Lookup(group.Value + "." + field.Value)
			return ok && s.Keyed
		}
	}
	return false
}

// refuseMethod refuses a call of anything except a named function.
func (l *lowerer) refuseMethod(n ast.Node) {
	call, _ := n.(*ast.CallNode)
	if call == nil {
		l.refuse(n, "", "%s is not a function", l.excerpt(n))
	}
	m, isMember := call.Callee.(*ast.MemberNode)
	if !isMember {
		l.refuse(n, "", "%s is not a function", l.excerpt(n))
	}
	method, isName := m.Property.(*ast.StringNode)
	if !isName {
		l.refuse(n, "", "%s is not a function", l.excerpt(n))
	}
	base, _ := m.Node.(*ast.IdentifierNode)
	switch {
	case isStub(m):
		l.refuse(n, "remove the parentheses", "%s is not a function", l.excerpt(n))
	case base == nil || Groups[base.Value] == nil:
		l.value(m.Node) // its own errors come first
	case Suggest(method.Value, quantiles) != "":
		l.refuse(n, StubHint(base.Value, method.Value), "there is no state stub %s", l.excerpt(m))
	}
	l.refuse(n, l.methodHint(m, method.Value, call.Arguments), "%s is not a function", l.excerpt(n))
}

// rego are the words with which a rule of OPA begins.
var rego = map[string]bool{"default": true, "package": true, "import": true, "allow": true, "deny": true, "violation": true}
