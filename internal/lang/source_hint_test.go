package lang

import (
	"errors"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// Hints for texts that follow the habits of other languages, and for words without their group.
func TestHintsForHabits(t *testing.T) {
	const braces = "write if x { a } else { b }, or x ? a : b"
	for _, c := range []struct{ text, hint string }{
		{`if (queue.length > 5) throw("x"); else continue()`, braces},
		{`if queue.length > 5 then throw("x") else continue()`, braces},
		{`if queue.length > 5 { return throw("x") } else { continue() }`, "without return"},
		{`return queue.length > 5 ? throw("x") : continue()`, "without return"},
		{`if queue.length > 5 { throw("x"); } else { continue() }`, "remove the ;"},
		{`if queue.length > 5 { throw("x") }; else { continue() }`, "remove the ;"},
		{`queue.length > 5 ? throw("x"); : continue()`, "remove the ;"},
		{`if queue.length > 5 { throw("x") } else if queue.length > 3 { throw("y") }`, "an if needs an else"},
		{`loop.utilization > 50% ? throw("x") : continue()`, "write 0.5 for 50%"},
		{`loop.utilization > 2.5% or task.cancelled ? throw("x") : continue()`, "write 0.025 for 2.5%"},
		{`chance(50) ? throw("x") : continue()`, "write chance(0.5) for 50%"},
		{`chance(2.5) ? throw("x") : continue()`, "write chance(0.025) for 2.5%"},
		{`chance(-5) ? throw("x") : continue()`, "write a share of 0 to 1, as in chance(0.05)"},
		{`if loop.utilization > 50% { throw("x") } else { continue() }`, "write 0.5 for 50%"},
		{`queue.length > 50 ? throw "x" : continue()`, `write throw("x")`},
		{`x := queue.length; x > 50 ? throw("x") : continue()`, "let x ="},
		{`var x = queue.length; x > 50 ? throw("x") : continue()`, "let x ="},
		{`unless queue.length < 50 { throw("x") }`, "write if not (x)"},
		{`when queue.length > 50 throw("x")`, braces},
		{`if queue.length > 50 { throw("x") } elif queue.length > 5 { throw("y") } else { continue() }`, "write else if"},
		{`queue.length > 50 ? throw("x") else continue()`, braces},
		{`queue.length > 50 ? throw("x")`, "write : continue()"},
		{`queue.length > 50 AND loop.busy > 3 ? throw("x") : continue()`, "in small letters"},
		{`arriving.name like "GET%" ? throw("x") : continue()`, "in pattern("},
		{`arriving.labels.tier is "free" ? throw("x") : continue()`, "compare with =="},
		{`queue.length between 5 and 10 ? throw("x") : continue()`, "x in 5..10"},
		{`for x in task.stack { throw("x") }`, "there are no loops"},
		{`queue.length > 10k ? throw("x") : continue()`, "write 10_000"},
		{`queue.length => 5 ? throw("x") : continue()`, "write >="},
		{`queue.length =< 5 ? throw("x") : continue()`, "write <="},
		{`queue.length = 5 ? throw("x") : continue()`, "compare with =="},
		{`queue.length > 5 ? suspend() : continue()`, "write switch()"},
		{`overloaded ? throw("x") : continue()`, "write state.overloaded for its value"},
		{`labels.tier == "free" ? throw("x") : continue()`, "write arriving.labels.tier"},
		{`labels["x-tier"] == "free" ? throw("x") : continue()`, `write arriving.labels["x-tier"]`},
		{`arriving.tier == "free" ? throw("x") : continue()`, "write arriving.labels.tier if it is a label; there is arriving.name"},
		{`arriving.nam == "free" ? throw("x") : continue()`, "did you mean arriving.name?"},
		{`arriving.tenant == "a" ? throw("x") : continue()`, "write tenant.name"},
		{`arriving.name in "GET /a*" ? throw("x") : continue()`, `write arriving.name in pattern("GET /a*")`},
		{`arriving.name in "GET /a" ? throw("x") : continue()`, `write arriving.name == "GET /a"`},
		{`queue.length > 5 ? throw("x", 30) : continue()`, `write duration("30s")`},
		{`queue.oldest > 30 ? throw("x") : continue()`, `write duration("30ms")`},
		{`runtime.uptime < state.count ? throw("x") : continue()`, "declare the state as a duration, like 0s"},
		{`set("count", runtime.heap)`, "declare the state as a size in bytes, like 0B"},
	} {
		env := testEnv
		env.On = stubs.Enqueue
		var e *ir.Error
		if _, err := Parse(c.text, env); !errors.As(err, &e) || !strings.Contains(e.Hint, c.hint) {
			t.Errorf("%s\n%v\nwant the hint %q", c.text, err, c.hint)
		}
	}
	var e *ir.Error
	if _, err := Parse(`labels.tier == "free" ? switch() : continue()`, testEnv); !errors.As(err, &e) || e.Hint != "write task.labels.tier" {
		t.Error("a label of the task:", err)
	}
}
