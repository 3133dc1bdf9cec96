package cocoon

import (
	"context"
	"fmt"
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
