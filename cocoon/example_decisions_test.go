package cocoon_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/cocoon-go/cocoon/cocoon"
)

// What the runtime decided, why, and with which values.
func ExampleRuntime_Decisions() {
	rt, err := cocoon.New(cocoon.Config{Slots: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = rt.RegisterPolicy(cocoon.Policy{
		Name: "free-plan", On: cocoon.OnEnqueue,
		Expr:  `arriving.labels.plan == "free" and state.closed ? throw("come back tomorrow") : continue()`,
		State: map[string]any{"closed": true},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := cocoon.WithLabel(context.Background(), "plan", "free")
	fmt.Println(rt.Run(ctx, "GET /report", func(context.Context) error { return nil }))
	if err := rt.Shutdown(ctx); err != nil {
		fmt.Println(err)
	}
	for decisions := rt.Decisions(0); ; {
		d, err := decisions.Next(ctx)
		if errors.Is(err, io.EOF) { // after Shutdown
			break
		}
		fmt.Println(d.Number, d)
		if branch, ok := d.Branch(); ok {
			fmt.Println("  decided by", branch)
			fmt.Println("  because", branch.Because[0])
		}
		for _, v := range d.Values() {
			fmt.Println("  read", v)
		}
	}
	// Output:
	// task "GET /report" refused by policy "free-plan": come back tomorrow
	// 1 policy-added policy "free-plan"
	// 2 refusal policy "free-plan" task "GET /report" loop "default": come back tomorrow
	//   decided by policy.expr:1:51: throw("come back tomorrow")
	//   because arriving.labels.plan == "free" and state.closed is true
	//   read arriving.labels["plan"]="free"
	//   read state.closed=true
}
