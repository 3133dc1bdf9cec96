package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cocoon-go/cocoon/stubs"
)

// The ready-made orders of the queue. All have the name "order", because a queue has one order,
// which Update changes.

// OrderName is the name of the ready-made orders of the queue.
const OrderName = "order"

// orders are the expressions of the ready-made orders, by their names in documents.
var orders = map[string]string{
	"fifo":     `rank(0)`,
	"priority": `rank(-arriving.priority)`,
	"deadline": `rank(runtime.uptime + arriving.deadline)`,
	"shortest": `rank(arriving.cost - arriving.running)`,
	"fair":     `rank(arriving.virtual_time)`,
}

func order(name string) Spec {
	return Spec{Name: OrderName, On: On(stubs.Enqueue), Expr: orders[name]}
}

// orderNamed returns the order that a document names.
func orderNamed(name string) (Spec, error) {
	if orders[name] == "" {
		return Spec{}, fmt.Errorf("there is no order %q; want %s", name, strings.Join(slices.Sorted(maps.Keys(orders)), ", "))
	}
	return order(name), nil
}

// Background makes the tasks of these names background tasks: they run only in slots that no other
// task wants, and are passed over for a bounded time. With DefaultPreemption, background tasks of
// kind preemptible or both give their slots up for other tasks.
func Background(tasks ...string) Spec {
	return Spec{Name: "background", On: On(stubs.Enqueue), Match: Match{Tasks: tasks}, Expr: `background()`}
}

// FirstInFirstOut is the order without ranks, for returning to it with Update.
func FirstInFirstOut() Spec { return order("fifo") }

// StrictPriority starts the task with the greatest priority first.
func StrictPriority() Spec { return order("priority") }

// EarliestDeadline starts the task with the earliest context deadline first, without preemption;
// tasks without a deadline come last.
func EarliestDeadline() Spec { return order("deadline") }

// ShortestRemaining starts the task with the least remaining running time first: its cost, declared
// by WithCost or averaged over earlier tasks of its name, minus its running time before it blocked.
// A new name has cost 0, so that it is measured soon. This order has the least mean wait; long
// tasks wait for MaxBypass each while shorter ones arrive.
func ShortestRemaining() Spec { return order("shortest") }

// FairShare shares the slots among the registered tenants in proportion to their shares, by
// start-time fair queueing, see arriving.virtual_time. The proportion holds while each tenant has
// waiting tasks; the other tenants use the time that a tenant leaves unused.
func FairShare() Spec { return order("fair") }
