package cocoon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestReloadAtOnce: of several concurrent loads of a file, the last to begin puts in force the file
// as it was then, or later.
func TestReloadAtOnce(t *testing.T) {
	rt, file := start(t, Config{Slots: 1}), newPolicyFile(t)
	write := func(n int) {
		next := string(file) + ".next"
		must(t, os.WriteFile(next, fmt.Appendf(nil, "version: 1\nstates: {n: %d}\n", n), 0o600))
		must(t, os.Rename(next, string(file)))
	}
	for n := range longtest.Count(300, 100) {
		write(-n)
		var first sync.WaitGroup
		first.Go(func() {
			if err := rt.LoadPolicyFile(string(file)); err != nil {
				t.Error(err)
			}
		})
		write(n)
		must(t, rt.LoadPolicyFile(string(file)))
		first.Wait()
		if got := rt.State("n"); got != int64(n) {
			t.Fatalf("%v is in force, and the file says %d", got, n)
		}
	}
}

// TestReloadUnderLoad: while tasks arrive and end, each of them meets one version of the file or
// the other, on every loop, and none is lost.
func TestReloadUnderLoad(t *testing.T) {
	rt, file := start(t, Config{Slots: 2}), newPolicyFile(t)
	other, err := rt.NewLoop(LoopConfig{Name: "other", Slots: 1})
	must(t, err)
	version := func(n int) string {
		return fmt.Sprintf(`
states: {one: 0, two: 0, torn: 0}
tenants: {label: tenant, shares: {gold: %[1]d}}
order: %[2]s
tasks: {job: {priority: %[1]d, kind: %[3]s}}
policies:
  - {name: torn, event: check, expr: 'state.one != state.two ? set("torn", state.torn + 1) : continue()'}
  - {name: one, event: check, expr: 'set("one", %[1]d)'}
  - {name: two%[1]d, event: check, expr: 'set("two", %[1]d)'}
  - {name: none, on: enqueue, match: {tasks: [none]}, expr: 'throw("version %[1]d")'}
`, n, []string{"fair", "priority"}[n%2], []string{"preemptible", "safe"}[n%2])
	}
	must(t, file.load(t, rt, version(1)))
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var crowd sync.WaitGroup
	for i := range 6 {
		crowd.Go(func() {
			loop := []*Loop{rt.Loop(), other}[i%2]
			ctx := WithLabel(ctx, "tenant", []string{"gold", "tin", "lead"}[i/2])
			for ctx.Err() == nil {
				err := loop.Run(ctx, "job", func(ctx context.Context) error {
					SafePoint(ctx)
					if i == 0 {
						rt.Notify("check", 0)
					}
					return nil
				})
				if err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
					return
				}
			}
		})
	}
	within(t, "the reloads", func() {
		for until := time.Now().Add(time.Duration(longtest.Count(1000, 50)) * time.Millisecond); time.Now().Before(until); {
			for n := 1; n <= 2; n++ {
				must(t, file.load(t, rt, version(n)))
				if err := file.load(t, rt, version(3)+"  - {name: bad, on: exit, expr: nonsense}\n"); err == nil {
					t.Error("nonsense is in force")
				}
				if pe := preemption(t, other.Run(background, "none", idle)); pe.Reason != fmt.Sprint("version ", n) {
					t.Errorf("after version %d: %v", n, pe)
				}
			}
		}
	})
	cancel()
	within(t, "the load", crowd.Wait)
	if torn := rt.State("torn"); torn != int64(0) {
		t.Errorf("%v times policies of two versions were evaluated together", torn)
	}
	for name, st := range rt.Stats().Policies {
		if st.Errors != 0 || st.Off {
			t.Errorf("policy %s: %+v", name, st)
		}
	}
}

// No task begins or ends between two versions of a policy.
func TestUpdateMissesNoTask(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	must(t, rt.RegisterState(map[string]any{"ended": 0}))
	refuse := Policy{Name: "refuse", On: OnStart, Expr: `throw("refused")`, Match: Match{Tasks: []string{"refused*"}}}
	count := Policy{Name: "count", On: OnExit, Expr: `add("ended", 1)`}
	refusal, counter := register(t, rt, refuse), register(t, rt, count)
	var ended, ran, updated atomic.Int64
	var crowd sync.WaitGroup
	for i := range 4 {
		name := []string{"counted", "refused 1"}[i%2]
		crowd.Go(func() {
			for updated.Load() == 0 {
				err := rt.Run(background, name, func(context.Context) error { ran.Add(int64(i % 2)); return nil })
				if ended.Add(1); (err != nil) != (i%2 == 1) {
					t.Errorf("%s: %v", name, err)
				}
			}
		})
	}
	for range longtest.Count(3000, 75) {
		must(t, refusal.Update(refuse))
		must(t, counter.Update(count))
	}
	updated.Store(1)
	within(t, "the crowd", crowd.Wait)
	if n := ran.Load(); n != 0 {
		t.Errorf("%d of %d tasks ran though the policy refuses them", n, ended.Load())
	}
	if got := rt.State("ended"); got != ended.Load() {
		t.Errorf("%v ends were counted of %d", got, ended.Load())
	}
}
