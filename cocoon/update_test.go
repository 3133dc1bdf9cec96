package cocoon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/policy"
)

// A thousand updates under load: each takes effect completely or not at all, no task is lost, and
// the last update stays in force.
func TestAThousandUpdatesUnderLoad(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	order := register(t, rt, policy.FirstInFirstOut())
	limit := register(t, rt, Policy{Name: "limit", On: OnEnqueue, Expr: `arriving.name == "none" ? throw("v0") : continue()`})
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var crowd sync.WaitGroup
	for i := range 8 {
		ctx := WithLabel(WithPriority(ctx, int32(i)), "tenant", fmt.Sprint(i%3))
		crowd.Go(func() {
			for ctx.Err() == nil {
				err := rt.Run(ctx, "job", func(ctx context.Context) error { SafePoint(ctx); return nil })
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
					return
				}
			}
		})
	}
	within(t, "the updates", func() {
		specs := []policy.Spec{policy.StrictPriority(), policy.FairShare(), policy.ShortestRemaining(), policy.EarliestDeadline(), policy.FirstInFirstOut()}
		for n := range longtest.Count(500, 25) {
			must(t, order.Update(specs[n%len(specs)]))
			if err := order.Update(Policy{On: OnEnqueue, Expr: "rank(nonsense)"}); err == nil {
				t.Error("nonsense is in force")
			}
			must(t, limit.Update(Policy{On: OnEnqueue, Expr: fmt.Sprintf(`arriving.name == "none" ? throw("v%d") : continue()`, n)}))
			if pe := preemption(t, rt.Run(background, "none", idle)); pe.Reason != fmt.Sprint("v", n) {
				t.Errorf("after update %d: %v", n, pe)
			}
		}
	})
	cancel()
	within(t, "the load", crowd.Wait)
	if got := order.Policy().Expr; got != policy.FirstInFirstOut().Expr || order.Stats().Off || order.Stats().Errors != 0 {
		t.Errorf("in force is %s, %+v", got, order.Stats())
	}
}
