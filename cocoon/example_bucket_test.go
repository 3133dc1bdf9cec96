package cocoon_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Each client has a token bucket of its own, and what its tasks run for is added up. Clients that
// are many cannot make either grow beyond 10,000 of them.
func ExampleBucket() {
	rt, err := cocoon.New(cocoon.Config{Slots: 1})
	if err != nil {
		panic(err)
	}
	defer rt.Shutdown(context.Background())
	err = rt.RegisterState(map[string]any{
		"requests": cocoon.Keyed{First: cocoon.Bucket{Rate: 0.01, Burst: 3}, Keys: 10_000},
		"spent":    cocoon.Keyed{First: time.Duration(0), Keys: 10_000, TTL: time.Hour},
	})
	if err != nil {
		panic(err)
	}
	for _, p := range []cocoon.Policy{
		{Name: "limit", On: cocoon.OnEnqueue, Expr: `take("requests", arriving.labels.client, 1) ? continue() : throw("rate limit")`},
		{Name: "charge", On: cocoon.OnExit, Expr: `add("spent", task.labels.client, task.running)`},
	} {
		if _, err := rt.RegisterPolicy(p); err != nil {
			panic(err)
		}
	}
	for _, client := range []string{"ann", "ann", "bob", "ann", "ann"} {
		ctx := cocoon.WithLabel(context.Background(), "client", client)
		err := rt.Run(ctx, "request", func(context.Context) error { return nil })
		var refused *cocoon.PreemptedError
		fmt.Println(client, errors.As(err, &refused))
	}
	fmt.Printf("%.1f tokens are left to bob\n", rt.State("requests", "bob"))
	fmt.Println("ann ran:", rt.State("spent", "ann").(time.Duration) > 0)
	// Output:
	// ann false
	// ann false
	// bob false
	// ann false
	// ann true
	// 2.0 tokens are left to bob
	// ann ran: true
}
