package cocoon

import (
	"context"
	"errors"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// cargo counts the values given by a task's caller, which may take up much memory. Each piece
// reports when the garbage collector frees it.
type cargo struct {
	given, taken atomic.Int64
}

// piece returns a value to be held by a task.
func (c *cargo) piece() *[64]byte {
	p := new([64]byte)
	c.given.Add(1)
	runtime.AddCleanup(p, func(struct{}) { c.taken.Add(1) }, struct{}{})
	return p
}

// loaded returns a context that holds a piece.
func (c *cargo) loaded(parent context.Context) context.Context {
	return context.WithValue(parent, keyOfTest{}, c.piece())
}

// work returns a function that holds a piece until it has been called, and continues as fn.
func (c *cargo) work(fn func(context.Context) error) func(context.Context) error {
	p := c.piece()
	return func(ctx context.Context) error {
		p[0]++
		if fn == nil {
			return nil
		}
		return fn(ctx)
	}
}

// spoilt is an error that holds a piece.
type spoilt struct{ p *[64]byte }

func (spoilt) Error() string { return "spoilt" }

// gone fails unless all pieces except kept are freed.
func (c *cargo) gone(t testing.TB, kept int64) {
	t.Helper()
	if c.given.Load() == 0 {
		t.Error("nothing was given")
	}
	eventually(t, "the pieces to be taken", func() bool {
		runtime.GC()
		return c.taken.Load() >= c.given.Load()-kept
	})
}

// leavings are the ways in which a task can end.
var leavings = map[string]func(*testing.T, *Runtime, *cargo){
	"Run": func(t *testing.T, rt *Runtime, c *cargo) {
		must(t, rt.Run(c.loaded(background), "job", c.work(nil)))
	},
	"in a loop": func(t *testing.T, rt *Runtime, c *cargo) {
		for ctx, i := c.loaded(background), 0; i < 10*often; i++ {
			must(t, rt.Run(ctx, "job", c.work(nil)))
		}
	},
	"its result": func(t *testing.T, rt *Runtime, c *cargo) {
		err := rt.Run(c.loaded(background), "job", func(context.Context) error { return spoilt{c.piece()} })
		if !errors.As(err, &spoilt{}) {
			t.Error(err)
		}
	},
	"its labels": func(t *testing.T, rt *Runtime, c *cargo) {
		must(t, rt.Run(WithLabel(c.loaded(background), "tenant", "a"), "job", c.work(nil)))
	},
	"Block": func(t *testing.T, rt *Runtime, c *cargo) {
		must(t, rt.Run(c.loaded(background), "job", func(ctx context.Context) error {
			p := c.piece()
			return Block(ctx, func() error { p[0]++; return nil })
		}))
	},
	"Section": func(t *testing.T, rt *Runtime, c *cargo) {
		must(t, rt.Run(c.loaded(background), "job", func(ctx context.Context) error {
			p := c.piece()
			return inSection(ctx, "s", func() error { p[0]++; return nil })
		}))
	},
	"Done": func(t *testing.T, rt *Runtime, c *cargo) {
		ctx, cancel := context.WithCancel(c.loaded(background))
		defer cancel()
		must(t, rt.Run(ctx, "job", func(ctx context.Context) error {
			p := c.piece()
			context.AfterFunc(ctx, func() { p[0]++ })
			ctx.Done()
			return nil
		}))
	},
	"nested": func(t *testing.T, rt *Runtime, c *cargo) {
		must(t, rt.Run(c.loaded(background), "outer", func(ctx context.Context) error {
			must(t, rt.Run(ctx, "alike", c.work(nil)))
			must(t, rt.Run(background, "other", c.work(nil)))
			return rt.Run(c.loaded(ctx), "inner", c.work(nil))
		}))
	},
	"Go": func(t *testing.T, rt *Runtime, c *cargo) {
		must(t, rt.Go(c.loaded(background), "job", c.work(nil)).Wait(background))
	},
	"children": func(t *testing.T, rt *Runtime, c *cargo) {
		gate := make(chan struct{})
		var h *Handle
		must(t, rt.Run(c.loaded(background), "parent", func(ctx context.Context) error {
			h = rt.Go(c.loaded(ctx), "child", c.work(func(context.Context) error { <-gate; return nil }))
			return nil
		}))
		close(gate)
		must(t, h.Wait(background))
	},
	"thrown": func(t *testing.T, rt *Runtime, c *cargo) {
		err := rt.Run(c.loaded(background), "job", c.work(func(ctx context.Context) error { TaskOf(ctx).Cancel(); return spinForever(ctx) }))
		if !errors.Is(err, ErrCancelled) {
			t.Error(err)
		}
	},
	"thrown, and panicked": func(t *testing.T, rt *Runtime, c *cargo) {
		err := rt.Run(c.loaded(background), "job", func(ctx context.Context) error {
			defer func() { recover(); panic(c.piece()) }()
			TaskOf(ctx).Cancel()
			return spinForever(ctx)
		})
		if !errors.Is(err, ErrCancelled) {
			t.Error(err)
		}
	},
	"refused": func(t *testing.T, rt *Runtime, c *cargo) {
		r := register(t, rt, Policy{Name: "refuse", On: OnEnqueue, Match: Match{Tasks: []string{"unwanted"}}, Expr: `throw("unwanted")`})
		defer r.Cancel()
		var refused *PreemptedError
		if err := rt.Run(c.loaded(background), "unwanted", c.work(nil)); !errors.As(err, &refused) || refused.Started {
			t.Error(err)
		}
	},
	"its context had ended": func(t *testing.T, rt *Runtime, c *cargo) {
		ctx, cancel := context.WithCancelCause(c.loaded(background))
		cancel(spoilt{c.piece()})
		if err := rt.Run(ctx, "job", c.work(nil)); !errors.As(err, &spoilt{}) {
			t.Error(err)
		}
	},
	"cancelled in the queue": func(t *testing.T, rt *Runtime, c *cargo) {
		rt.Loop().Hold()
		defer rt.Loop().Release()
		h := rt.Go(c.loaded(background), "job", c.work(nil))
		eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
		h.Cancel()
		if err := h.Wait(background); !errors.Is(err, ErrCancelled) {
			t.Error(err)
		}
	},
	"its context ended in the queue": func(t *testing.T, rt *Runtime, c *cargo) {
		rt.Loop().Hold()
		defer rt.Loop().Release()
		ctx, cancel := context.WithCancelCause(c.loaded(background))
		h := rt.Go(ctx, "job", c.work(nil))
		eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
		cancel(spoilt{c.piece()})
		if err := h.Wait(background); !errors.As(err, &spoilt{}) {
			t.Error(err)
		}
	},
	"panicked": func(t *testing.T, rt *Runtime, c *cargo) {
		defer func() { recover() }()
		rt.Run(c.loaded(background), "job", func(context.Context) error { panic(c.piece()) })
	},
	"Goexit": func(t *testing.T, rt *Runtime, c *cargo) {
		within(t, "it", func() {
			rt.Run(c.loaded(background), "job", c.work(func(context.Context) error { runtime.Goexit(); return nil }))
		})
	},
}

// amounts are how much a runtime may know about its tasks: nothing while they are in open slots, or
// everything.
var amounts = map[string]func(*testing.T, *Runtime){
	"open slots": func(*testing.T, *Runtime) {},
	"time policies": func(t *testing.T, rt *Runtime) {
		register(t, rt, Policy{Name: "tick", On: Every(100 * time.Microsecond), Expr: `task.running > duration("1h") ? throw("x") : continue()`})
	},
	"short limit": func(t *testing.T, rt *Runtime) { // measured, and never applied
		must(t, rt.RegisterState(map[string]any{"on": false}))
		register(t, rt, Policy{Name: "limit", On: Every(time.Millisecond), Expr: `task.running > duration("5ms") and state.on ? throw("x") : continue()`})
	},
	"events": func(t *testing.T, rt *Runtime) {
		must(t, rt.RegisterState(map[string]any{"seen": 0}))
		for name, on := range map[string]Trigger{"enqueue": OnEnqueue, "start": OnStart, "block": OnBlock, "unblock": OnUnblock, "exit": OnExit} {
			register(t, rt, Policy{Name: name, On: on, Expr: `task.running < duration("1h") ? set("seen", state.seen + 1) : continue()`})
		}
	},
	"gates": func(t *testing.T, rt *Runtime) {
		register(t, rt, Policy{Name: "reports", On: OnEnqueue, Expr: `arriving.name == "report" and queue.oldest > duration("2s") ? throw("x") : continue()`})
	},
	"tenants": func(t *testing.T, rt *Runtime) {
		must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
	},
}

// TestEndedTaskKeepsNothing: after a task has ended, in any way, nothing that it began with, or had
// made, stays alive. Neither its strand, which other tasks reuse, nor the loop keeps it. A retained
// task of the same runtime suffices for the test, because it refers to the strands and the loop.
func TestEndedTaskKeepsNothing(t *testing.T) {
	for i, state := range slices.Sorted(maps.Keys(amounts)) {
		for j, name := range slices.Sorted(maps.Keys(leavings)) {
			if longtest.Off() && (i+j)%len(amounts) != 0 {
				continue // the short form has each amount, and each way to leave once
			}
			t.Run(strings.ReplaceAll(state+"/"+name, " ", "_"), func(t *testing.T) {
				rt := start(t, Config{Slots: 2})
				amounts[state](t, rt)
				leave := leavings[name]
				var c cargo
				var kept []context.Context // a context of each strand
				for range 3 {
					must(t, rt.Run(background, "job", func(ctx context.Context) error { kept = append(kept, ctx); return nil }))
					leave(t, rt, &c)
				}
				c.gone(t, 0)
				runtime.KeepAlive(kept)
			})
		}
	}
}

// TestLongTaskKeepsNoOther: a task that runs for long, on a strand that other tasks have used, does
// not keep their contexts alive.
func TestLongTaskKeepsNoOther(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	var c cargo
	for range 3 * often {
		must(t, rt.Run(c.loaded(background), "request", c.work(nil)))
	}
	ctx := c.loaded(background)
	for range 3 * often {
		must(t, rt.Run(ctx, "request", c.work(nil)))
	}
	ctx = nil
	must(t, rt.Run(background, "stream", func(ctx context.Context) error {
		return Block(ctx, func() error { c.gone(t, 0); return nil })
	}))
}

// TestKeptTaskKeepsItsOwn: a retained context of a task keeps its own values, and no values of the
// tasks before and after it.
func TestKeptTaskKeepsItsOwn(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	var c cargo
	var kept context.Context
	for i := range 10 * often {
		must(t, rt.Run(c.loaded(background), "request", c.work(func(ctx context.Context) error {
			if i == 5*often {
				kept = ctx
			}
			return nil
		})))
	}
	c.gone(t, 1)
	if p, ok := kept.Value(keyOfTest{}).(*[64]byte); !ok || kept.Err() == nil || c.taken.Load() != c.given.Load()-1 {
		t.Errorf("of the kept context: value %v, error %v; %d of %d pieces are taken", p, kept.Err(), c.taken.Load(), c.given.Load())
	}
}
