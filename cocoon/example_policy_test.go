package cocoon_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// A policy looks at the running tasks each millisecond, and stops a report that runs too long. A
// policy with a mistake is refused when it is registered.
func ExampleRuntime_RegisterPolicy() {
	rt, err := cocoon.New(cocoon.Config{QuietThrows: true})
	if err != nil {
		panic(err)
	}
	defer rt.Shutdown(context.Background())
	_, err = rt.RegisterPolicy(cocoon.Policy{
		Name: "limit-reports", On: cocoon.Every(time.Millisecond),
		Expr: `task.name == "report" && task.running > duration("20ms") ? throw("it took too long") : continue()`,
	})
	if err != nil {
		panic(err)
	}
	err = rt.Run(context.Background(), "report", func(ctx context.Context) error {
		for {
			cocoon.SafePoint(ctx)
		}
	})
	var preempted *cocoon.PreemptedError
	if errors.As(err, &preempted) {
		fmt.Println(preempted.Policy+":", preempted.Reason)
	}
	_, err = rt.RegisterPolicy(cocoon.Policy{Name: "shed", On: cocoon.OnEnqueue, Expr: `queue.lenght > 10 ? throw() : continue()`})
	fmt.Println(err)
	// Output:
	// limit-reports: it took too long
	// cocoon: policy "shed": policy.expr:1:1: there is no state stub queue.lenght; did you mean queue.length?
}

// A document has all rules of a server. Loaded again, it replaces its previous contents; a document
// with a mistake changes nothing.
func ExampleRuntime_LoadPolicies() {
	rt, err := cocoon.New(cocoon.Config{QuietThrows: true})
	if err != nil {
		panic(err)
	}
	defer rt.Shutdown(context.Background())
	err = rt.LoadPolicies(strings.NewReader(`
version: 1
tasks:
  GET /items/*: safe         # may run while a report is suspended
  GET /report: preemptible   # may be suspended
preemption:
  on: enqueue                # an arriving item preempts a report
policies:
  - name: no-reports-for-free
    on: enqueue
    expr: |
      arriving.name == "GET /report" and arriving.labels.plan == "free"
        ? throw("reports are for customers") : continue()
`))
	if err != nil {
		panic(err)
	}
	for _, plan := range []string{"paid", "free"} {
		ctx := cocoon.WithLabel(context.Background(), "plan", plan)
		err := rt.Run(ctx, "GET /report", func(context.Context) error { return nil })
		var refused *cocoon.PreemptedError
		fmt.Println(plan, errors.As(err, &refused))
	}
	// Output:
	// paid false
	// free true
}
