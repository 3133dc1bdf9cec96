package lang

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// quantiles are the fields of the state stubs that take a quantile.
var quantiles = func() (fields []string) {
	for _, s := range stubs.Catalogue {
		if _, field, _ := strings.Cut(s.Path, "."); s.Quantile {
			fields = append(fields, field)
		}
	}
	return fields
}()

// quantileOf returns the called state stub, as in queue.wait(0.99), or nil.
func quantileOf(called ast.Node) *stubs.Stub {
	m, _ := called.(*ast.MemberNode)
	if m == nil {
		return nil
	}
	group, _ := m.Node.(*ast.IdentifierNode)
	field, _ := m.Property.(*ast.StringNode)
	if group == nil || field == nil {
		return nil
	}
	if s, ok := stubs.Lookup(group.Value + "." + field.Value); ok && s.Quantile {
		return s
	}
	return nil
}

// quantile lowers a call of a state stub, such as queue.wait(0.99).
func (l *lowerer) quantile(n *ast.CallNode, s *stubs.Stub) value {
	if len(n.Arguments) == 0 || len(n.Arguments) > 2 {
		l.refuse(n, "write "+s.Path+`(0.99), or `+s.Path+`(0.99, duration("30s"))`,
			"%s takes a quantile, and a window if it is not %v; not %d arguments", s.Path, ir.DefaultWindow, len(n.Arguments))
	}
	key := readKey{id: s.ID, window: ir.DefaultWindow}
	q := l.value(n.Arguments[0])
	if !q.constant() || q.node.Type != stubs.Int && q.node.Type != stubs.Float {
		l.refuse(n.Arguments[0], "write a number, as in "+s.Path+"(0.99)", "a quantile is a plain constant, and %s is %s", l.excerpt(n.Arguments[0]), describe(q))
	}
	q = l.adapt(n.Arguments[0], q, value{node: &ir.Node{Type: stubs.Float}})
	key.quantile = math.Float64frombits(q.node.Imm)
	if !ValidQuantile(key.quantile) {
		l.refuse(n.Arguments[0], quantileHint(key.quantile), "a quantile is between 0 and 1, and %s is not", l.excerpt(n.Arguments[0]))
	}
	if len(n.Arguments) == 2 {
		key.window = l.window(n.Arguments[1])
	}
	return value{node: l.stub(n, s, key)}
}

// ValidQuantile reports whether a policy may ask for the quantile.
func ValidQuantile(q float64) bool { return q > 0 && q < 1 }

// quantileHint guesses the quantile that an invalid number stands for.
func quantileHint(q float64) string {
	if q > 1 && q < 100 {
		return "write " + strconv.FormatFloat(q/100, 'g', 6, 64) + " for that percentile"
	}
	return "write 0.99 for what 99 of 100 are below"
}

// window returns the constant window n.
func (l *lowerer) window(n ast.Node) time.Duration {
	v := l.value(n)
	if !v.constant() || v.node.Type != stubs.Duration {
		hint := `write it like duration("30s")`
		if v.constText {
			hint = unitHint(v, l.excerpt(n), stubs.Duration)
		}
		l.refuse(n, hint, "a window is a constant duration, and %s is %s", l.excerpt(n), describe(v))
	}
	d := time.Duration(v.node.Imm)
	if !ValidWindow(d) {
		l.refuse(n, "", "the window %v is not between %v and %v", d, ir.MinWindow, ir.MaxWindow)
	}
	return d
}

// ValidWindow reports whether a policy may ask for figures of the window.
func ValidWindow(d time.Duration) bool { return ir.MinWindow <= d && d <= ir.MaxWindow }

// trendRead lowers rate("state", window) and average("state", window).
func (l *lowerer) trendRead(n ast.Node, name string, args []ast.Node) value {
	l.arguments(n, name, args, 2)
	state := l.constantText(args[0], "the name of a state")
	t, ok := l.env.States[state]
	if !ok {
		l.noState(args[0], state)
	}
	if !t.Numeric() {
		l.refuse(args[0], "", "%s() is for numbers, and the state %s is %s", name, state, article(t))
	}
	if table := l.env.Tables[state]; table != (Table{}) {
		l.refuse(args[0], "count what you want to know of all keys in another state", "%s() is for states without keys, and the state %s is a token bucket or has keys", name, state)
	}
	key := readKey{id: stubs.StateRate, key: state, window: l.window(args[1])}
	of := stubs.Float
	if name == "average" {
		key.id, of = stubs.StateAverage, ir.AverageType(t)
	}
	return value{node: l.read(n, key, of, 1)}
}
