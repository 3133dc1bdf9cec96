package cocoon

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

func TestRegisteringANameTwice(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	p := Policy{Name: "p", On: OnStart, Expr: `continue()`}
	r := register(t, rt, p)
	if _, err := rt.RegisterPolicy(p); !errors.Is(err, ErrDuplicate) {
		t.Errorf("a policy: %v", err)
	}
	r.Cancel()
	register(t, rt, p)
	must(t, rt.RegisterState(map[string]any{"a": 1}))
	if err := rt.RegisterState(map[string]any{"new": 1, "a": 2}); !errors.Is(err, ErrDuplicate) || rt.State("new") != nil || rt.State("a") != int64(1) {
		t.Errorf("a state: %v, %v", err, rt.State("new"))
	}
	newLoopOf(t, rt, "l", 1)
	if _, err := rt.NewLoop(LoopConfig{Name: "l"}); !errors.Is(err, ErrDuplicate) {
		t.Errorf("a loop: %v", err)
	}
	f := Func{Name: "f", Do: func(context.Context) {}}
	must(t, rt.RegisterSafeFunc(f))
	if err := rt.RegisterSafeFunc(f); !errors.Is(err, ErrDuplicate) {
		t.Errorf("a function: %v", err)
	}
	var wins atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			_, err := rt.RegisterPolicy(Policy{Name: "race", On: OnStart, Expr: `continue()`})
			if err == nil {
				wins.Add(1)
			} else if !errors.Is(err, ErrDuplicate) {
				t.Errorf("eight at once: %v", err)
			}
		})
	}
	wg.Wait()
	if n := wins.Load(); n != 1 {
		t.Errorf("of eight at once %d are registered", n)
	}
}

// Policies, states, functions, kinds and loops are registered while a thousand tasks run, and all
// of them work.
func TestRegisteringWhileTasksRun(t *testing.T) {
	rt := start(t, Config{Slots: 4})
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 1000 {
		wg.Go(func() {
			rt.Run(background, "job", func(ctx context.Context) error {
				for !closed(done) {
					Yield(ctx)
				}
				return nil
			})
		})
	}
	eventually(t, "all to arrive", func() bool { return rt.Stats().Tasks == 1000 })
	for i := range longtest.Count(10, 5) {
		r := register(t, rt, Policy{Name: "p", On: Every(100 * time.Microsecond), Expr: `task.preemptions > 1000000 ? throw("x") : continue()`})
		eventually(t, "an evaluation", func() bool { return r.Stats().Evaluations > 0 })
		r.Cancel()
		name := fmt.Sprint("n", i)
		must(t, rt.RegisterState(map[string]any{name: i}))
		must(t, rt.RegisterSafeFunc(Func{Name: name, Do: func(context.Context) {}}))
		must(t, rt.RegisterPreemptibleFunc("job"))
		must(t, newLoopOf(t, rt, name, 1).Run(background, "job", idle))
	}
	close(done)
	wg.Wait()
}

// When Cancel returns, no evaluation is in progress and none will begin.
func TestCancelOfAPolicyIsFinal(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			rt.Run(background, "job", func(ctx context.Context) error {
				for !closed(done) {
					rt.Notify("n", 1)
				}
				return nil
			})
		})
	}
	for range longtest.Count(30, 10) {
		r := register(t, rt, Policy{Name: "p", On: OnNotify("n"), Expr: `event.value > 2 and task.running > duration("1h") ? throw("x") : continue()`})
		eventually(t, "an evaluation", func() bool { return r.Stats().Evaluations > 0 })
		r.Cancel()
		r.Cancel()
		n := r.Stats()
		for range 100 {
			rt.Notify("n", 1)
		}
		if now := r.Stats(); now.Evaluations != n.Evaluations || !now.Off || now.Errors != 0 {
			t.Fatalf("%+v after %+v", now, n)
		}
	}
	close(done)
	wg.Wait()
}

// A policy that cancels itself is not evaluated any more, and its name is free.
func TestPolicyCancelsItself(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	r := register(t, rt, Policy{Name: "once", On: OnStart, Expr: `cancel()`})
	for range 5 {
		must(t, rt.Run(background, "job", idle))
	}
	if n := r.Stats().Evaluations; n != 1 {
		t.Errorf("%d evaluations", n)
	}
	eventually(t, "its name to be free", func() bool { return len(rt.Stats().Policies) == 0 })
	if err := r.Update(Policy{On: OnStart, Expr: `continue()`}); !errors.Is(err, ErrGone) {
		t.Error(err)
	}
}
