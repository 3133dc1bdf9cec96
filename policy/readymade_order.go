package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/stubs"
)

// The ready-made orders of the queue. They have one name, "order", because a queue has one: Update
// changes it.

// orders are the expressions of the ready-made orders, by the name that a document gives them.
var orders = map[string]string{
	"fifo":     `rank(0)`,
	"priority": `rank(-arriving.priority)`,
	"deadline": `rank(runtime.uptime + arriving.deadline)`,
	"shortest": `rank(arriving.cost - arriving.running)`,
	"fair":     `rank(arriving.virtual_time)`,
}

func order(name string) Spec {
	return Spec{Name: "order", On: On(stubs.Enqueue), Expr: orders[name]}
}

// orderNamed returns the order that a document names.
func orderNamed(name string) (Spec, error) {
	if orders[name] == "" {
		return Spec{}, fmt.Errorf("there is no order %q; want %s", name, strings.Join(slices.Sorted(maps.Keys(orders)), ", "))
	}
	return order(name), nil
}

// Background makes the tasks of these names the background: they run only in slots that nobody else
// wants, and are passed over for a bounded time. Those of kind preemptible or both give their slot
// up for others with DefaultPreemption.
func Background(tasks ...string) Spec {
	return Spec{Name: "background", On: On(stubs.Enqueue), Match: Match{Tasks: tasks}, Expr: `background()`}
}

// FirstInFirstOut is the order without ranks: to go back to, by Update.
func FirstInFirstOut() Spec { return order("fifo") }

// StrictPriority starts the task with the greatest priority first.
func StrictPriority() Spec { return order("priority") }

// EarliestDeadline starts the task whose context ends first; those without a deadline come last
// (earliest deadline first, without preemption).
func EarliestDeadline() Spec { return order("deadline") }

// ShortestRemaining starts the task first that has the least left to run: its cost, declared by
// WithCost or observed of earlier tasks of its name, without what it has run before it blocked. A
// name that was never seen costs nothing, so that it is seen soon. Mean waiting is the least of all
// orders; long tasks wait for MaxBypass each while shorter ones come.
func ShortestRemaining() Spec { return order("shortest") }

// FairShare shares the slots among the tenants, which must be registered, in proportion to their
// shares: start-time fair queueing, see arriving.virtual_time. It holds as long as each has tasks
// that wait; what one leaves the others use.
func FairShare() Spec { return order("fair") }
