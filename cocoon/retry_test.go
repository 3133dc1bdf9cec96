package cocoon

import (
	"context"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// The retry time of a throw reaches the error, of refused tasks and of running tasks.
func TestRetryAfter(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"wait": 2 * time.Second}))
	register(t, rt, Policy{Name: "arrival", On: policy.On(stubs.Enqueue), Expr: `
		arriving.priority == 1 ? throw("one", 2 * state.wait) : arriving.priority == 2 ? throw("two") :
		arriving.priority == 3 ? throw("three", -state.wait) :
		arriving.priority == 5 ? throw("five", arriving.deadline) : continue()`})
	register(t, rt, Policy{Name: "later", On: policy.Every(time.Millisecond), Expr: `task.priority == 4 ? throw("four", state.wait) : continue()`})
	for priority, want := range map[int32]time.Duration{1: 4 * time.Second, 2: 0, 3: 0, 4: 2 * time.Second, 5: maxRetry} {
		refused := func() *PreemptedError {
			return preemption(t, rt.Run(WithPriority(background, priority), "job", func(ctx context.Context) error {
				for {
					SafePoint(ctx)
				}
			}))
		}
		p := refused()
		for range 20 { // the tick may come before the task's first statement
			if p.Started || priority != 4 {
				break
			}
			p = refused()
		}
		if p.RetryAfter != want || p.Started != (priority == 4) {
			t.Errorf("%d: %+v; want %v", priority, p, want)
		}
	}
}
