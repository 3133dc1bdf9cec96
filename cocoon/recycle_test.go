package cocoon

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
)

// TestPooledStrandKeepsNoAccount: after the end of a task, its strand keeps neither the accounts of
// the task's tenant and class nor the policies that observed it. A retained context of the task
// retains the strand.
func TestPooledStrandKeepsNoAccount(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	l := rt.Loop()
	must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	var freed atomic.Int64
	free := func(struct{}) { freed.Add(1) }
	var kept context.Context
	func() { // a frame of its own, so that no variable keeps what is to be freed
		refuse := register(t, rt, Policy{Name: "few", On: OnEnqueue, Expr: `class.tasks > 9 ? throw("many") : continue()`})
		defer refuse.Cancel()
		watch := register(t, rt, Policy{Name: "watch", On: OnStart, Mode: Observe, Expr: `throw("any")`})
		defer watch.Cancel()
		runtime.AddCleanup(watch, free, struct{}{})
		must(t, rt.Run(WithLabel(background, "tenant", "a"), "job", func(ctx context.Context) error {
			s := strandOf(ctx)
			l.lock()
			defer l.unlock()
			if s.tenant == nil || s.class == nil || s.would == nil || len(*s.would) == 0 {
				t.Errorf("tenant %p, class %p, decisions %v", s.tenant, s.class, s.would)
				return nil
			}
			runtime.AddCleanup(s.tenant, free, struct{}{})
			runtime.AddCleanup(s.class, free, struct{}{})
			kept = ctx
			return nil
		}))
	}()
	rt.regMu.Lock()
	rt.installTenants(nil)
	rt.regMu.Unlock()
	eventually(t, "the accounts and the policy to be freed", func() bool {
		runtime.GC()
		return freed.Load() == 3
	})
	runtime.KeepAlive(kept)
}
