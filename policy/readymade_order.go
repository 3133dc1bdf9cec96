package policy

import "github.com/cocoon-go/cocoon/stubs"

// The ready-made orders of the queue. All have the name "order", because a queue has one order,
// which Update changes.

// OrderName is the name of the ready-made orders of the queue.
const OrderName = "order"

func order(expr string) Spec { return Spec{Name: OrderName, On: On(stubs.Enqueue), Expr: expr} }

// Background makes the tasks of these names background tasks: they run only in slots that no other
// task wants, and are passed over for a bounded time. With DefaultPreemption, background tasks of
// kind preemptible or both give their slots up for other tasks.
func Background(tasks ...string) Spec {
	return Spec{Name: "background", On: On(stubs.Enqueue), Match: Match{Tasks: tasks}, Expr: `background()`}
}

// FirstInFirstOut is the order without ranks, for returning to it with Update.
func FirstInFirstOut() Spec { return order(`rank(0)`) }

// StrictPriority starts the task with the greatest priority first.
func StrictPriority() Spec { return order(`rank(-arriving.priority)`) }

// EarliestDeadline starts the task with the earliest context deadline first, without preemption;
// tasks without a deadline come last.
func EarliestDeadline() Spec { return order(`rank(runtime.uptime + arriving.deadline)`) }

// ShortestRemaining starts the task with the least remaining running time first: its cost, declared
// by WithCost or averaged over earlier tasks of its name, minus its running time before it blocked.
// A new name has cost 0, so that it is measured soon. This order has the least mean wait; long
// tasks wait for MaxBypass each while shorter ones arrive.
func ShortestRemaining() Spec { return order(`rank(arriving.cost - arriving.running)`) }

// FairShare shares the slots among the registered tenants in proportion to their shares, by
// start-time fair queueing, see arriving.virtual_time. The proportion holds while each tenant has
// waiting tasks; the other tenants use the time that a tenant leaves unused.
func FairShare() Spec { return order(`rank(arriving.virtual_time)`) }
