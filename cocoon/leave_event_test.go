package cocoon

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// counted registers a counter of the tasks that are there, after a policy that refuses some.
func counted(t *testing.T, rt *Runtime) {
	t.Helper()
	must(t, rt.RegisterState(map[string]any{"now": 0, "left": 0, "by": Keyed{Keys: 100}}))
	register(t, rt, Policy{Name: "refuses", On: OnEnqueue, Expr: `arriving.priority < 0 ? throw("unwanted") : continue()`})
	register(t, rt, Policy{Name: "arrivals", On: OnEnqueue, Expr: `state.now > 50 ? throw("enough") : (add("now", 1); add("by", arriving.name, 1))`})
	register(t, rt, Policy{Name: "departures", On: policy.On(stubs.Exit | stubs.Leave), Expr: `add("now", -1); add("by", task.name, -1)`})
	register(t, rt, Policy{Name: "leavers", On: OnLeave, Expr: `task.running == duration("0s") ? add("left", 1) : add("left", 1000000)`})
}

// A counter of arrivals and departures comes back to zero, however tasks end.
func TestCounterOfTasksComesBack(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	counted(t, rt)
	random := rand.New(rand.NewPCG(3, 5))
	names := []string{"a", "b", "c"}
	var all sync.WaitGroup
	for i := range 600 {
		ctx, cancel := context.WithCancel(background)
		ctx = WithPriority(ctx, int32(random.IntN(8)-1))
		name, wait, how := names[i%3], time.Duration(random.IntN(300))*time.Microsecond, random.IntN(4)
		work := func(ctx context.Context) error {
			for end := time.Now().Add(200 * time.Microsecond); time.Now().Before(end); {
				SafePoint(ctx)
				// so that tasks arrive while it holds its slot, also on one processor
				runtime.Gosched()
			}
			if how == 1 { // nested, with a context that may end
				return rt.Run(ctx, "c", idle)
			}
			return nil
		}
		all.Go(func() {
			defer cancel()
			switch how {
			case 0: // by its handle
				h := rt.Go(ctx, name, work)
				time.Sleep(wait)
				h.Cancel()
				h.Wait(background)
			case 1, 2: // by its context
				stop := time.AfterFunc(wait, cancel)
				rt.Run(ctx, name, work)
				stop.Stop()
			default:
				rt.Run(ctx, name, work)
			}
		})
		if i%20 == 0 {
			time.Sleep(time.Millisecond)
		}
	}
	all.Wait()
	eventually(t, "all tasks end", func() bool { return rt.Stats().Tasks == 0 })
	if now := rt.State("now"); now != int64(0) {
		t.Errorf("%v tasks are there, by the counter", now)
	}
	for _, name := range names {
		if n := rt.State("by", name); n != int64(0) {
			t.Errorf("%v tasks %s are there, by the counter", n, name)
		}
	}
	if n := rt.State("left").(int64); n < 10 || n >= 1_000_000 {
		t.Errorf("%d tasks left the queue", n)
	}
}

// A task that waits leaves once, whatever ends it; a refused one, and one that had a slot, never.
func TestLeave(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	counted(t, rt)
	release := taken(t, rt.Loop())
	left := func(want int64) {
		t.Helper()
		eventually(t, "a task leaves", func() bool { return rt.State("left") == want })
	}
	ctx, cancel := context.WithCancel(background)
	first := rt.Go(ctx, "a", idle)
	second := rt.Go(background, "a", idle)
	eventually(t, "they wait", func() bool { return rt.Loop().Stats().Queued == 2 })
	cancel()
	left(1)
	second.Cancel()
	left(2)
	if err := errors.Join(first.Wait(background), second.Wait(background)); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if err := rt.Run(WithPriority(background, -1), "a", idle); err == nil {
		t.Error("it is not refused")
	}
	if now := rt.State("now"); now != int64(1) {
		t.Errorf("%v tasks are there, by the counter", now)
	}
	release()
	eventually(t, "the counter is zero", func() bool { return rt.State("now") == int64(0) })
	left(2)
}
