package cocoon

import (
	"context"
	"log/slog"
	"strconv"
	"testing"

	"github.com/cocoon-go/cocoon/internal/kernel"
)

// BenchmarkCosts measures what comments of this package say about costs. Where a comment says what
// something costs in addition to a task, the cost is the difference to "task".
func BenchmarkCosts(b *testing.B) {
	inTask := func(each func(context.Context)) func(*testing.B) {
		return func(b *testing.B) {
			must(b, start(b, Config{Slots: 1}).Run(background, "job", func(ctx context.Context) error {
				for b.Loop() {
					each(ctx)
				}
				return nil
			}))
		}
	}
	b.Run("task", tasks(func(*Runtime) {}))
	b.Run("task of a name that is not kept", tasks(func(rt *Runtime) { rt.naming.classCount.Store(maxClasses) }))
	b.Run("task of a tenant", tasks(func(rt *Runtime) { must(b, rt.RegisterTenants(Tenants{Label: "tenant"})) }))
	b.Run("task with a policy on exit", tasks(func(rt *Runtime) {
		register(b, rt, Policy{Name: "p", On: OnExit, Match: Match{Tasks: []string{"other"}}, Expr: `cancel()`})
	}))
	b.Run("section", inTask(func(ctx context.Context) {
		_, _ = Section(ctx, "s", func() (int, error) { return 0, nil })
	}))
	b.Run("section with a context", inTask(func(ctx context.Context) {
		_, _ = SectionContext(ctx, "s", func(context.Context) (int, error) { return 0, nil })
	}))
	b.Run("context alone", inTask(func(ctx context.Context) {
		_, cancel := context.WithCancelCause(ctx)
		cancel(nil)
	}))
	b.Run("Thrown", inTask(func(ctx context.Context) { Thrown(ctx) }))
	b.Run("log line", func(b *testing.B) {
		rt := start(b, Config{Slots: 1, Logger: slog.New(slog.DiscardHandler)})
		for b.Loop() {
			rt.log.add(slog.LevelInfo, "line", "n", 1)
		}
	})
	b.Run("kernel.YieldCore", func(b *testing.B) {
		for b.Loop() {
			kernel.YieldCore()
		}
	})
	b.Run("sample.renew", func(b *testing.B) {
		var s sample
		for now := sampleEvery; b.Loop(); now += 2 * sampleEvery {
			s.renew(now)
		}
	})
	for _, shared := range []bool{false, true} {
		b.Run("cpuClock.sample, shared="+strconv.FormatBool(shared), func(b *testing.B) {
			var c cpuClock
			for now := sampleRunning; b.Loop(); now += sampleRunning {
				c.sample(now, shared)
			}
		})
	}
}

// tasks returns a benchmark of tasks that all have the same context and name.
func tasks(prepare func(*Runtime)) func(*testing.B) {
	return func(b *testing.B) {
		rt := start(b, Config{Slots: 1, Logger: slog.New(slog.DiscardHandler)})
		prepare(rt)
		ctx := WithLabel(background, "tenant", "a")
		for b.Loop() {
			must(b, rt.Run(ctx, "job", idle))
		}
	}
}
