// Policies of a main package: all that is registered is seen.
package main

import (
	"context"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

const (
	budget   = "budget"
	misspelt = "swich()"
	period   = 100 * time.Microsecond
)

type service struct{}

func (*service) Alarm(ctx context.Context)        {}
func Page()                                       {}
func Handle(ctx context.Context, id string) error { return nil }

var rest []string

func main() {
	rt, err := cocoon.New(cocoon.Config{})
	if err != nil {
		return
	}
	err = rt.RegisterState(map[string]any{"overloaded": false, "served": 0, budget: time.Second, "ratio": 0.5})
	err = rt.RegisterSafeFunc((&service{}).Alarm)
	err = rt.RegisterSafeFunc(Page)
	err = rt.RegisterSafeFunc(Handle)
	err = rt.RegisterSafeFunc("named")
	err = rt.RegisterSafeFunc(cocoon.Func{Name: "ops.Shed", Do: func(context.Context) {}})
	if err != nil {
		return
	}
	good(rt, time.Duration(len(budget)))
	bad(rt, time.Duration(len(budget)))
}

func use(...any) {}

func good(rt *cocoon.Runtime, d time.Duration) {
	use(rt.RegisterPolicy(cocoon.Policy{
		Name: "good",
		On:   cocoon.Every(period),
		Expr: `task.running > state.budget and not state.overloaded ? (set("served", queue.length); call("Alarm"); call("Page"); call("Shed"); call("ops.Shed"); call("main.Page"); throw("late")) : continue()`,
	}))
	use(
		cocoon.Policy{Name: "enqueue", On: cocoon.OnEnqueue, Expr: `arriving.kind == "safe" and task.kind == "both" ? switch() : continue()`},
		cocoon.Policy{Name: "custom", On: cocoon.OnNotify("gc"), Expr: `event.value > 1 ? throw("gc") : continue()`},
		cocoon.Policy{Name: "some", On: policy.On(stubs.Enqueue | stubs.Start), Expr: `queue.safe > 0 ? switch() : continue()`},
		cocoon.Policy{Name: "private", On: cocoon.Every(d), State: map[string]any{"n": 0, "since": d}, Expr: `state.since > duration("1s") ? set("n", state.n + 1) : continue()`},
		cocoon.Policy{Name: "shadow", On: cocoon.Every(d), State: map[string]any{"served": d}, Expr: `state.served > duration("1s") ? switch() : continue()`},
		policy.Spec{"positional", policy.Every(d), `state.ratio > 1.0 ? switch() : continue()`, policy.Observe, policy.Match{}, nil, "Europe/Berlin"},
		cocoon.Policy{}, // to be filled in
	)
}

func bad(rt *cocoon.Runtime, d time.Duration) {
	use(rt.RegisterPolicy(cocoon.Policy{
		Name: "limit regex",                                     // want `policy name "limit regex": a name has letters, digits, '-', '_', '.' and '/' only`
		On:   cocoon.Every(1),                                   // want `the interval 1ns is not between 5µs and 24h0m0s`
		Mode: 7,                                                 // want `unknown mode 7; want Enforce, Observe or Off`
		Zone: "Mars/Base",                                       // want `there is no zone "Mars/Base"; write a name of the IANA database, as in Europe/Berlin`
		Expr: `task.running > 100 ? throw("late") : continue()`, // want `^task.running is a duration and 100 is a plain number; write duration\("100ms"\)$`
		Match: cocoon.Match{
			Kinds: []string{"both", "fast"}, // want `match.kinds: there is no kind "fast"; want "atomic", "preemptible", "safe" or "both"`
			Tasks: []string{"get", ""},      // want `match.tasks: a task's name is empty`
			Except: []string{
				"GET /admin/*",
				"*1*2*3*4*5*6*7*8*9*0*1*2*3*4*5*6*7", // want `match.except: a task's name: the pattern "\*1\*2\*3\*4\*5\*6\*7\*8\*9\*0\*1\*2\*3\*4\*5\*6\*7" has 17 stars, and 16 are allowed`
			},
		},
		State: map[string]any{
			"a b": 1,          // want `state "a b": a name has letters, digits and '_' only, and no digit first`
			"x":   "text",     // want `state "x" has the Go type string; want bool, int, int64, float64, time.Duration, Bucket or Keyed`
			"y":   float32(1), // want `state "y" has the Go type float32`
		},
	}))
	use(
		cocoon.Policy{Expr: ``},                                         // want `the policy is empty; write continue\(\)`
		cocoon.Policy{Expr: "task.running >"},                           // want `the text ends too early`
		cocoon.Policy{Name: ""},                                         // want `the policy has no name; give it one`
		&cocoon.Policy{On: policy.On(0)},                                // want `it is never evaluated; say when with Every, On or OnCustom`
		[]cocoon.Policy{{On: policy.On(stubs.Tick), Name: "tick"}},      // want `tick is not an event to name; use Every with an interval`
		map[string]policy.Spec{"a": {On: cocoon.Every(25 * time.Hour)}}, // want `the interval 25h0m0s is not between`
		policy.Spec{"positional", policy.Every(d), `state.ratio ? switch() : continue()`, 0, policy.Match{}, nil, ""}, // want `state.ratio`
	)
	use(
		cocoon.Policy{On: cocoon.Every(d), Expr: `state.overlodaed ? switch() : continue()`},                                                  // want `there is no state "overlodaed"; did you mean overloaded\?`
		cocoon.Policy{On: cocoon.Every(d), Expr: `call("Handle")`},                                                                            // want `no function "Handle" is registered as safe`
		cocoon.Policy{On: cocoon.Every(d), Expr: `call("named")`},                                                                             // want `no function "named" is registered as safe`
		cocoon.Policy{On: cocoon.Every(d), Expr: `call("Pgae")`},                                                                              // want `did you mean Page\?`
		cocoon.Policy{On: cocoon.Every(d), Expr: `set("served", 0.5)`},                                                                        // want `the state served is an int`
		cocoon.Policy{On: cocoon.Every(d), Expr: `arriving.kind == "safe" ? switch() : continue()`},                                           // want `arriving.kind is not known on tick; it is set on enqueue only`
		cocoon.Policy{On: cocoon.OnExit, Expr: `task.running > duration("1s") ? throw("x") : continue()`},                                     // want `throw\(\) has no task to act on`
		cocoon.Policy{On: cocoon.OnNotify(budget), Expr: `interval(duration("1ms"))`},                                                         // want `interval\(\) changes the interval of a time policy`
		cocoon.Policy{On: cocoon.OnNotify("rain"), Expr: `event.name == "snow" ? cancel() : continue()`},                                      // want `^questionable: event.name == "snow" is always false: event.name is "rain" here; the policy is evaluated on that event alone` `^questionable: cancel\(\) is never reached`
		cocoon.Policy{On: cocoon.Every(d), Expr: `1 / queue.length > 0 ? switch() : continue()`},                                              // want `division by zero: queue.length may be 0 here`
		cocoon.Policy{On: cocoon.OnEnqueue, Expr: `queue.length < 0 ? throw("never") : switch()`},                                             // want `^questionable: queue.length < 0 is always false` `^questionable: throw\("never"\) is never reached`
		cocoon.Policy{On: cocoon.OnExit, Match: cocoon.Match{Tasks: []string{"a"}}, Expr: `task.name == "b" ? set("served", 1) : continue()`}, // want `^questionable: task.name == "b" is always false: task.name is "a" here; match lets no other tasks through` `^questionable: set\("served", 1\) is never reached`
		cocoon.Policy{On: cocoon.OnExit, Match: cocoon.Match{Tasks: []string{misspelt}, Except: rest}, Expr: `task.name == "b" ? set("served", 1) : continue()`},
		cocoon.Policy{On: cocoon.OnExit, Expr: `let x = 3; set("served", 1)`},                                                        // want `^questionable: nothing uses x; remove the let`
		cocoon.Policy{On: cocoon.Every(time.Second), Expr: `task.cancelled or task.slice > duration("1ms") ? switch() : continue()`}, // want `questionable: `
	)
	use(
		[]*cocoon.Policy{{Expr: "swich()"}},                            // want `did you mean switch`
		[...]struct{ cocoon.Policy }{{cocoon.Policy{Expr: "swich()"}}}, // want `did you mean switch`
		cocoon.Policy{Expr: "swi" + "ch()"},                            // want `did you mean switch`
		cocoon.Policy{Expr: (misspelt)},                                // want `did you mean switch`
		cocoon.Policy{Expr: string(misspelt)},                          // want `did you mean switch`
	)
	use(rt.RegisterPolicy(cocoon.Policy{On: cocoon.OnStart, Expr: "switch()"})) // want `the policy has no Name; give it one`
	use(rt.RegisterPolicy(cocoon.Policy{Name: "never", Expr: "switch()"}))      // want `the policy has no On, and is never evaluated`
	use(cocoon.RegisterPolicy(cocoon.Policy{Name: "none", On: cocoon.OnStart})) // want `the policy has no Expr; write continue\(\)`
	reg, err := rt.RegisterPolicy(cocoon.Policy{Name: "again", On: cocoon.OnStart, Expr: "switch()"})
	use(err, reg.Update(cocoon.Policy{On: cocoon.OnStart, Expr: "swich()"})) // want `there is no function swich; did you mean switch\?`
}
