package cocoon

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

// nosy is a context with methods that check where they are called.
type nosy struct {
	context.Context
	t     *testing.T
	loops []*Loop
	calls *atomic.Int64
}

func (n nosy) Deadline() (time.Time, bool) { n.look(); return n.Context.Deadline() }
func (n nosy) Done() <-chan struct{}       { n.look(); return n.Context.Done() }
func (n nosy) Err() error                  { n.look(); return n.Context.Err() }
func (n nosy) Value(key any) any           { n.look(); return n.Context.Value(key) }

// look fails the test if the caller holds a loop's lock, or is the timer's thread. A lock held by
// another goroutine is free before long. A lock held by the caller never is, because the caller
// waits here.
func (n nosy) look() {
	n.calls.Add(1)
	var pcs [128]uintptr
	var stack strings.Builder
	for frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])]); ; {
		f, more := frames.Next()
		fmt.Fprintln(&stack, f.Function)
		if !more {
			break
		}
	}
	if strings.Contains(stack.String(), "notify.(*Timer).run") {
		n.t.Errorf("a context's method runs on the timer's thread:\n%s", &stack)
	}
	for _, l := range n.loops {
		for end := time.Now().Add(patience / 4); !l.guard.mu.TryLock(); runtime.Gosched() {
			if time.Now().After(end) {
				n.t.Errorf("a context's method runs under the loop's lock:\n%s", &stack)
				return
			}
		}
		l.guard.mu.Unlock()
	}
}

// everyStub is an expression that reads everything that a policy may read on the events. Its value
// does not matter.
func everyStub(on stubs.Event) string {
	var reads []string
	for _, s := range stubs.Catalogue {
		if s.On&on != on || s.ID == stubs.State {
			continue
		}
		path := s.Path
		if s.Keyed {
			path += `["part"]`
		}
		if s.Quantile {
			path += "(0.5)"
		}
		switch s.Type {
		case stubs.Bool:
			reads = append(reads, path)
		case stubs.Int:
			reads = append(reads, path+" > 7")
		case stubs.Float:
			reads = append(reads, path+" > 0.5")
		case stubs.Duration:
			reads = append(reads, path+` > duration("1s")`)
		case stubs.Name:
			reads = append(reads, path+" == task.name")
		case stubs.NameList:
			reads = append(reads, `"part" in `+path)
		case stubs.Bytes:
			reads = append(reads, path+` > bytes("1GB")`)
		}
	}
	return fmt.Sprintf(`set("seen", %s)`, strings.Join(reads, " or "))
}

// Whatever happens to a task, and whatever policies read meanwhile, the methods of its context run
// where no lock is held.
func TestContextsAreAskedWhereNothingIsHeld(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: 5 * time.Millisecond})
	other, err := rt.NewLoop(LoopConfig{Name: "other"})
	must(t, err)
	must(t, rt.RegisterState(map[string]any{"seen": false}))
	must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	for e := stubs.Event(1); e&stubs.AnyEvent != 0; e <<= 1 {
		on := Trigger{Events: e}
		if e == stubs.Tick {
			on = Every(100 * time.Microsecond)
		}
		register(t, rt, Policy{Name: "look-" + e.String(), On: on, Expr: everyStub(e)})
	}
	register(t, rt, Policy{Name: "refuse", On: OnEnqueue, Match: Match{Tasks: []string{"refused"}}, Expr: `throw("no")`})
	register(t, rt, Policy{Name: "limit", On: Every(time.Millisecond), Match: Match{Tasks: []string{"long", "deaf"}},
		Expr: `task.running > duration("3ms") ? throw("too long") : continue()`})
	register(t, rt, Policy{Name: "part", On: Every(time.Millisecond), Match: Match{Tasks: []string{"parted"}},
		Expr: `task.section == "part" and task.section_running > duration("3ms") ? throw("too long") : continue()`})
	calls := new(atomic.Int64)
	watched := func(ctx context.Context) context.Context {
		return nosy{ctx, t, []*Loop{rt.Loop(), other}, calls}
	}
	quit := errors.New("the caller quit")

	for name, run := range map[string]func(ctx context.Context) error{
		"run": func(ctx context.Context) error { return rt.Run(ctx, "job", idle) },
		"go":  func(ctx context.Context) error { return rt.Go(ctx, "job", idle).Wait(ctx) },
		"nested": func(ctx context.Context) error {
			return rt.Run(ctx, "job", func(ctx context.Context) error { return rt.Run(watched(ctx), "inner", idle) })
		},
		"other loop": func(ctx context.Context) error {
			return rt.Run(ctx, "job", func(ctx context.Context) error { return other.Run(watched(ctx), "inner", idle) })
		},
		"child": func(ctx context.Context) error {
			return rt.Run(ctx, "job", func(ctx context.Context) error { return rt.Go(watched(ctx), "inner", idle).Wait(ctx) })
		},
		"refused": func(ctx context.Context) error { preemption(t, rt.Run(ctx, "refused", idle)); return nil },
		"section": func(ctx context.Context) error {
			return rt.Run(ctx, "parted", func(ctx context.Context) error {
				preemption(t, inSection(ctx, "part", func() error { return spinForever(ctx) }))
				return nil
			})
		},
		"thrown": func(ctx context.Context) error { preemption(t, rt.Run(ctx, "long", spinForever)); return nil },
		"deaf": func(ctx context.Context) error { // it does not respond, so its context ends on another goroutine
			preemption(t, rt.Run(ctx, "deaf", func(ctx context.Context) error {
				err := stall(func() bool { return closed(ctx.Done()) })
				SafePoint(ctx)
				return err
			}))
			return nil
		},
		"cancelled": func(ctx context.Context) error {
			h := begun(t, rt.Loop(), ctx, "job", func(ctx context.Context) error { <-ctx.Done(); SafePoint(ctx); return nil })
			h.Cancel()
			preemption(t, h.Wait(background))
			return nil
		},
		"gone while it waits": func(ctx context.Context) error {
			release := taken(t, rt.Loop())
			defer release()
			rt.Loop().Hold()
			defer rt.Loop().Release()
			ctx, cancel := context.WithCancelCause(ctx)
			h := rt.Go(watched(ctx), "job", idle)
			eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
			cancel(quit)
			if err := h.Wait(background); !errors.Is(err, quit) {
				t.Errorf("the task that gave up: %v", err)
			}
			return nil
		},
		"gone before": func(ctx context.Context) error {
			ctx, cancel := context.WithCancelCause(ctx)
			cancel(quit)
			if err := rt.Run(watched(ctx), "job", idle); !errors.Is(err, quit) {
				t.Errorf("the task that came too late: %v", err)
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			before := calls.Load()
			ctx, cancel := context.WithTimeout(background, time.Hour)
			defer cancel()
			must(t, run(watched(ctx)))
			rt.Notify("look", 1)
			if calls.Load() == before {
				t.Error("nobody has called the context; the test sees nothing")
			}
		})
	}
	eventually(t, "all to end", func() bool { return rt.Stats().Tasks == 0 })
}
