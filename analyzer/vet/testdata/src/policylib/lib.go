// Policies of a package that is given its runtime: others may register with it, too.
package policylib

import (
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

func Register(rt *cocoon.Runtime, on cocoon.Trigger) error {
	if err := rt.RegisterState(map[string]any{"overloaded": false}); err != nil {
		return err
	}
	for _, p := range []cocoon.Policy{
		{Name: "a", On: on, Expr: `state.budget < task.running ? call("Alarm") : continue()`},
		{Name: "b", On: cocoon.Every(time.Second), Expr: `set("x", state.y + state.z); switch()`},
		{Name: "c", On: on, Expr: `arriving.kind == "safe" ? switch() : continue()`},
		{Name: "d", On: on, Expr: `event.value > arriving.priority ? switch() : continue()`},                                 // want `arriving.priority is not known on custom; it is set on enqueue only`
		{Name: "e", On: on, Expr: `call("Alarm"); state.x > state.y and task.runing > 1 ? switch() : continue()`},            // want `there is no state stub task.runing; did you mean task.running`
		{Name: "f", On: on, Expr: `state.overloaded > 1 ? switch() : continue()`},                                            // want `state.overloaded`
		{Name: "g", On: on, Expr: `state.a and state.b and state.c and state.d and task.runing > 1 ? switch() : continue()`}, // too many to try
		{Name: "h", On: on, Expr: `state.u / 0 > state.v ? switch() : continue()`},                                           // want `divi`
		{Name: "i", On: on, Expr: `queue.length < 0 ? switch() : continue()`},                                                // want `the policy can only continue`
	} {
		if _, err := rt.RegisterPolicy(p); err != nil {
			return err
		}
	}
	return nil
}
