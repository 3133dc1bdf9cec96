package cocoon

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
)

// A background task starts after all other tasks, and gives up its slot for a safe task.
func TestBackground(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: -1})
	register(t, rt, policy.Background("backup", "index"))
	got := startOrder(t, rt, []arrival{{name: "backup"}, {name: "a"}, {name: "index"}, {name: "b"}})
	if fmt.Sprint(got) != "[a b backup index]" {
		t.Errorf("started in the order %v", got)
	}
	must(t, rt.RegisterPreemptibleFunc("backup"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	running, until := make(chan struct{}), make(chan struct{})
	backup := rt.Go(background, "backup", func(ctx context.Context) error { close(running); spin(ctx, until); return nil })
	receive(t, "the backup", running)
	must(t, rt.Run(background, "get", idle))
	close(until)
	must(t, backup.Wait(background))
	if n := backup.Account().Preemptions; n != 1 {
		t.Errorf("switched out %d times", n)
	}
}

// A running task that is lowered gives its slot up for a waiting safe task, although no policy
// switches. When it comes back from a block, all other tasks go first.
func TestLowered(t *testing.T) {
	for _, kind := range []string{"atomic", "preemptible"} {
		rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: -1})
		must(t, rt.LoadPolicies(strings.NewReader(`version: 1
states: {seen: false}
tasks: {batch: `+kind+`, get: safe}
policies:
  - {name: lower, every: 1ms, expr: 'task.name == "batch" and task.running > duration("3ms") ? background() : continue()'}
  - {name: see, every: 1ms, expr: 'task.background ? set("seen", true) : continue()'}
`)))
		var order []string
		note := func(name string) func(context.Context) error {
			return func(context.Context) error { order = append(order, name); return nil }
		}
		lowered, blocked, back := make(chan struct{}), make(chan struct{}), make(chan struct{})
		batch := rt.Go(background, "batch", func(ctx context.Context) error {
			for rt.State("seen") != true {
				SafePoint(ctx)
			}
			close(lowered)
			spin(ctx, blocked) // a safe task comes meanwhile
			must(t, Block(ctx, func() error { <-back; return nil }))
			return note("batch")(ctx)
		})
		receive(t, "the lowering", lowered)
		get := rt.Go(background, "get", note("get"))
		if kind == "preemptible" {
			must(t, get.Wait(background))
		}
		close(blocked)
		must(t, get.Wait(background))
		runs, release := make(chan struct{}), make(chan struct{})
		a := rt.Go(background, "a", func(ctx context.Context) error { order = append(order, "a"); close(runs); return keepSlot(release) })
		receive(t, "a", runs)
		b := rt.Go(background, "b", note("b"))
		close(back)
		eventually(t, "batch waits", func() bool { return rt.Loop().Stats().Queued == 2 })
		c := rt.Go(background, "c", note("c"))
		eventually(t, "c waits", func() bool { return rt.Loop().Stats().Queued == 3 })
		close(release)
		for _, h := range []*Handle{a, b, c, batch} {
			must(t, h.Wait(background))
		}
		if got := fmt.Sprint(order); got != "[get a b c batch]" {
			t.Errorf("%s: the order is %v", kind, got)
		}
		if n, want := batch.Account().Preemptions, map[string]int{"preemptible": 1}[kind]; int(n) != want {
			t.Errorf("%s: switched out %d times", kind, n)
		}
	}
}

// A background task ends although other tasks keep arriving.
func TestBackgroundDoesNotStarve(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: 4 * time.Millisecond})
	register(t, rt, policy.Background("backup"))
	must(t, rt.RegisterPreemptibleFunc("backup"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	done := make(chan struct{})
	go func() {
		defer close(done)
		gets := make(chan struct{}, 8)
		for ctx.Err() == nil {
			gets <- struct{}{}
			go func() {
				rt.Run(ctx, "get", func(context.Context) error {
					for end := time.Now().Add(200 * time.Microsecond); time.Now().Before(end); {
					}
					return nil
				})
				<-gets
			}()
		}
		for range cap(gets) {
			gets <- struct{}{}
		}
	}()
	within(t, "the backup", func() {
		must(t, rt.Run(background, "backup", func(ctx context.Context) error {
			for TaskOf(ctx).Account().Running < 5*time.Millisecond {
				SafePoint(ctx)
			}
			return nil
		}))
	})
	cancel()
	receive(t, "the end of the gets", done)
}
