package cocoon

import (
	"context"
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
	"time"
)

// Tasks lists the tasks in slots first, with their sections and tenants, then the other ones, and
// no more than it was asked for.
func TestTasks(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	l := rt.Loop()
	var over atomic.Bool
	started := make(chan struct{}, 2)
	for range 2 {
		rt.Go(WithLabel(background, "tenant", "gold"), "holder", func(ctx context.Context) error {
			_, err := Section(ctx, "inner", func() (int, error) {
				started <- struct{}{}
				for !over.Load() { // a task that waited would lose its slot
					runtime.Gosched()
				}
				return 0, nil
			})
			return err
		})
		<-started
	}
	var waiting []*Handle
	for range 3 {
		waiting = append(waiting, rt.Go(background, "waiter", func(context.Context) error { return nil }))
	}
	eventually(t, "the tasks wait", func() bool { return l.Stats().Queued == 3 })
	all := l.Tasks(10)
	if len(all) != 5 {
		t.Fatalf("%d tasks; want 5", len(all))
	}
	for i, s := range all {
		want := TaskStats{State: "queued", Slot: -1}
		if i < 2 {
			want = TaskStats{State: "running", Slot: i, Tenant: "gold", Section: "inner"}
		}
		if s.State != want.State || s.Slot != want.Slot || s.Tenant != want.Tenant || s.Section != want.Section || s.For <= 0 {
			t.Errorf("task %d is %+v; want %+v", i, s, want)
		}
	}
	for n := range 6 {
		if got := len(l.Tasks(n)); got != min(n, 5) {
			t.Errorf("Tasks(%d) returned %d tasks", n, got)
		}
	}
	over.Store(true)
	for _, h := range waiting {
		must(t, h.Wait(background))
	}
}

// A task in an open slot is listed too, a task inside Block counts as blocked, and nothing is asked
// of either.
func TestTasksOfOpenSlots(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		if all := rt.Loop().Tasks(10); len(all) != 1 || all[0].State != "running" || all[0].Task != TaskOf(ctx) {
			t.Errorf("tasks %+v; want the running one", all)
		}
		return Block(ctx, func() error {
			time.Sleep(time.Millisecond)
			all := rt.Loop().Tasks(10)
			if len(all) != 1 || all[0].State != "blocked" || all[0].Account.Blocked < time.Millisecond {
				t.Errorf("tasks %+v; want the blocked one", all)
			}
			if n := TaskOf(ctx).strand.requests.Load(); n != 0 {
				t.Errorf("requests %b", n)
			}
			return nil
		})
	}))
}

func TestStateValues(t *testing.T) {
	rt := start(t, Config{})
	must(t, rt.RegisterState(map[string]any{
		"most": 7, "off": true, "tokens": Bucket{Rate: 1e-6, Burst: 2}, "keyed": Keyed{Keys: 4},
	}))
	_, err := rt.NewLoop(LoopConfig{Name: "second", Slots: 1})
	must(t, err)
	_, err = rt.RegisterPolicy(Policy{
		Name: "p", On: OnExit, State: map[string]any{"own": time.Second, "each": PerLoop{First: 1}},
		Expr: `set("own", state.own + duration("1s")); set("each", state.each + 1)`,
	})
	must(t, err)
	must(t, rt.Run(background, "job", func(context.Context) error { return nil }))
	want := `[{Policy: Loop: Name:most Value:7} {Policy: Loop: Name:off Value:true} {Policy: Loop: Name:tokens Value:2} ` +
		`{Policy:p Loop:default Name:each Value:2} {Policy:p Loop:second Name:each Value:1} {Policy:p Loop: Name:own Value:2s}]`
	if got := fmt.Sprintf("%+v", rt.StateValues()); got != want {
		t.Errorf("states\n%s; want\n%s", got, want)
	}
}

func TestRegistrationSaysItsCostAndFile(t *testing.T) {
	rt := start(t, Config{})
	r, err := rt.RegisterPolicy(Policy{Name: "p", On: OnEnqueue, Expr: `queue.length > 9 ? throw("busy") : continue()`})
	must(t, err)
	if n := r.Cost(); n < 2 || n > 20 {
		t.Errorf("%d steps at most", n)
	}
	if f := r.File(); f != "" {
		t.Errorf("a policy of code is of the file %q", f)
	}
}

// BenchmarkTasks is a look at 256 of 1000 tasks.
func BenchmarkTasks(b *testing.B) {
	rt := start(b, Config{Slots: 1, StallAfter: -1})
	rt.Loop().Hold()
	for range 1000 {
		rt.Go(background, "task", func(context.Context) error { return nil })
	}
	eventually(b, "the tasks wait", func() bool { return rt.Loop().Stats().Queued == 1000 })
	for b.Loop() {
		rt.Loop().Tasks(256)
	}
	rt.Loop().Release()
}
