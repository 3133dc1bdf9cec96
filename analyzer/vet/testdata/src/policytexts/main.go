// A main package whose policies and documents come by detours.
package main

import (
	"bytes"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"policyhelp"
)

const document = "version: 1\nstates: {hot: false}\n" +
	"policies:\n  - name: é\n    on: start\n    expr: continue()\n" // want `policy name "é": a name has`

const good = `version: 1
states: {cold: 0}
policies:
  - name: cool
    on: enqueue
    expr: |
      set("cold", state.cold + 1)
`

var notConstant = "version: 1\nnope: 1\n"

func load(rt *cocoon.Runtime, text []byte) error {
	return rt.LoadPolicies(bytes.NewReader(text))
}

func spec(name, expr string) cocoon.Policy {
	return cocoon.Policy{Name: name, On: cocoon.OnEnqueue, Expr: expr}
}

func main() {
	rt, err := cocoon.New(cocoon.Config{})
	err = load(rt, []byte(document))
	err = rt.LoadPolicies(strings.NewReader(good))
	err = policyhelp.Load(rt, "version: 1\nlimits: [{fun: a}]\n")                         // want `a limit has no key "fun"; did you mean func\?`
	err = policyhelp.Load(rt, policyhelp.Order)                                           // want `2:8 of the document: there is no order "lifo"`
	policyhelp.Must(rt, "a", `task.runing > duration("1s") ? throw("slow") : continue()`) // want `there is no state stub task.runing`
	policyhelp.Must(rt, "b", policyhelp.Fine)
	policyhelp.Must(rt, "c", policyhelp.Slow)                                               // want `1:1 of the text: there is no state stub task.runing`
	policyhelp.Must(rt, "d", `arriving.cost > duration("1s") ? throw("slow") : continue()`) // want `arriving.cost is not known on tick`
	policyhelp.On(rt, "e", cocoon.OnEnqueue, `arriving.cost > duration("1s") ? throw("slow") : continue()`)
	policyhelp.On(rt, "f", cocoon.OnExit, `task.running > duration("1s") ? throw("slow") : continue()`)       // want `throw\(\) has no task to act on`
	policyhelp.On(rt, "f1", cocoon.OnEnqueue, `queue.wait(99) > duration("1s") ? throw("slow") : continue()`) // want `a quantile is between 0 and 1, and 99 is not`
	policyhelp.On(rt, "f2", cocoon.OnExit, `average("mine", duration("1m")) > 1.5 and rate("mine", duration("1m")) > 1 and class.wait(0.5) > queue.cost ? set("mine", 1) : continue()`)
	policyhelp.On(rt, "g", cocoon.OnExit, `set("mine", state.mine + 1)`)
	policyhelp.On(rt, "h", cocoon.OnExit, `set("cold", state.cold + state.hott)`)
	when := cocoon.OnExit
	policyhelp.On(rt, "i", when, `switch()`) // want `switch\(\) has no task to act on`
	later := cocoon.OnExit
	later = cocoon.OnStart
	policyhelp.On(rt, "j", later, `switch()`)
	expr := `queue.length > 1 ? swich() : continue()` // want `there is no function swich`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "k", On: cocoon.Every(time.Second), Expr: expr})
	changed := `swich()`
	changed = `switch()`
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "l", On: cocoon.Every(time.Second), Expr: changed})
	_, err = rt.RegisterPolicy(spec("m", `queue.lenth > 1 ? switch() : continue()`)) // want `there is no state stub queue.lenth; did you mean`
	_, err = rt.RegisterPolicy(spec("n", `rank(arriving.cost)`))
	register := func(name, expr string) {
		_, err = rt.RegisterPolicy(cocoon.Policy{Name: name, On: cocoon.OnStart, Expr: expr})
	}
	register("o", `tsk.running > 1 ? switch() : continue()`) // want `there is no tsk`
	register("p", `switch()`)
	for _, p := range []struct{ name, expr string }{
		{"q", `switch()`},
		{"r", `swich()`}, // want `there is no function swich`
		{name: "s", expr: `task.running > 5 ? switch() : continue()`}, // want `task.running is a duration and 5 is a plain number`
	} {
		policyhelp.Must(rt, p.name, p.expr)
	}
	for name, expr := range map[string]string{"t": `switch()`, "u": `swith()`} { // want `there is no function swith`
		_, err = rt.RegisterPolicy(cocoon.Policy{Name: name, On: cocoon.OnStart, Expr: expr})
	}
	loadText := func(text string) error { return rt.LoadPolicies(strings.NewReader(text)) }
	err = loadText("version: 2\n") // want `version 2 is not known`
	notConstant = "version: 1\n"
	err = load(rt, []byte(notConstant))
	_ = err
}
