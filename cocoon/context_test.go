package cocoon

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"testing"
	"time"
)

type keyOfTest struct{}

func TestTaskContextPassesValuesAndDeadline(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	at := time.Now().Add(time.Hour)
	ctx, cancel := context.WithDeadline(context.WithValue(background, keyOfTest{}, 7), at)
	defer cancel()
	must(t, rt.Run(ctx, "job", func(ctx context.Context) error {
		for range 2 { // before and after the cancellation is made
			if v := ctx.Value(keyOfTest{}); v != 7 {
				t.Errorf("the value is %v", v)
			}
			if d, ok := ctx.Deadline(); !ok || !d.Equal(at) {
				t.Errorf("the deadline is %v, %v", d, ok)
			}
			if ctx.Err() != nil || closed(ctx.Done()) {
				t.Error("it has ended")
			}
		}
		return nil
	}))
}

// The end of the caller's context ends the task's, with the same cause, whether or not Done was
// called before.
func TestTaskContextEndsWithTheCallers(t *testing.T) {
	want := errors.New("gone")
	for name, prepare := range map[string]func(context.Context){
		"not asked": func(context.Context) {},
		"asked":     func(ctx context.Context) { ctx.Done() },
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			parent, cancel := context.WithCancelCause(background)
			must(t, rt.Run(parent, "job", func(ctx context.Context) error {
				prepare(ctx)
				cancel(want)
				receive(t, "Done", ctx.Done())
				if ctx.Err() != context.Canceled || context.Cause(ctx) != want {
					t.Errorf("%v, %v", ctx.Err(), context.Cause(ctx))
				}
				return nil
			}))
		})
	}
}

// Contexts derived from a task's need no goroutine.
func TestDerivedContextsNeedNoGoroutine(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		labelled := WithLabel(WithPriority(ctx, 1), "tenant", "a")
		before := runtime.NumGoroutine()
		for _, parent := range []context.Context{ctx, labelled, context.WithValue(ctx, keyOfTest{}, 1)} {
			for range 100 {
				c, cancel := context.WithCancel(parent)
				defer cancel()
				c.Done()
			}
		}
		if n := runtime.NumGoroutine(); n > before+50 {
			t.Errorf("%d goroutines more", n-before)
		}
		return nil
	}))
}

// A task's context ends with the task, and does not change while other tasks use the same strand.
func TestTaskContextEndsWithTheTask(t *testing.T) {
	for name, prepare := range map[string]func(context.Context){
		"not asked": func(context.Context) {},
		"asked":     func(ctx context.Context) { ctx.Done() },
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			var kept context.Context
			must(t, rt.Run(context.WithValue(background, keyOfTest{}, 7), "first", func(ctx context.Context) error {
				kept = ctx
				prepare(ctx)
				return nil
			}))
			for range 100 { // other tasks use the strand
				must(t, rt.Run(background, "next", func(ctx context.Context) error {
					task := TaskOf(kept)
					if task == TaskOf(ctx) || task.Name() != "first" || task.Status() != Returned || task.Account() != (Account{}) {
						t.Errorf("the kept context leads to %v, %v", task.Name(), task.Status())
					}
					if kept.Err() == nil || !closed(kept.Done()) || context.Cause(kept) == nil || kept.Value(keyOfTest{}) != 7 {
						t.Errorf("the kept context: %v, %v", kept.Err(), context.Cause(kept))
					}
					task.Cancel() // no effect
					SafePoint(kept)
					Yield(kept)
					must(t, Block(kept, func() error { return nil }))
					must(t, inSection(kept, "s", func() error { return nil }))
					return ctx.Err()
				}))
			}
			if err := rt.Run(kept, "late", func(context.Context) error { t.Error("it ran"); return nil }); !errors.Is(err, context.Canceled) {
				t.Errorf("a task in a context that has ended: %v", err)
			}
			derived, cancel := context.WithCancel(kept)
			defer cancel()
			if derived.Err() == nil {
				t.Error("a context derived later lives")
			}
		})
	}
}

// Run does not start a task if its context has ended.
func TestRunInAContextThatHasEnded(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	want := errors.New("gone")
	ended, cancel := context.WithCancelCause(background)
	cancel(want)
	never := func(context.Context) error { t.Error("it ran"); return nil }
	if err := rt.Run(ended, "job", never); !errors.Is(err, want) {
		t.Errorf("Run: %v", err)
	}
	h := rt.Go(ended, "job", never)
	if err := h.Wait(background); !errors.Is(err, want) || h.Task().Status() != CancelledBeforeStart {
		t.Errorf("Go: %v, %v", err, h.Task().Status())
	}
	must(t, rt.Run(background, "outer", func(ctx context.Context) error {
		ctx, cancel := context.WithCancelCause(ctx)
		cancel(want)
		if err := rt.Run(ctx, "inner", never); !errors.Is(err, want) {
			t.Errorf("nested: %v", err)
		}
		return nil
	}))
}

// The same while Run waits for a slot.
func TestRunStopsWaitingWithItsContext(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	release := taken(t, rt.Loop())
	want := errors.New("gone")
	ctx, cancel := context.WithCancelCause(background)
	h := rt.Go(ctx, "job", func(context.Context) error { t.Error("it ran"); return nil })
	eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
	cancel(want)
	if err := h.Wait(background); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
	if st := rt.Loop().Stats(); st.Queued != 0 || st.Refused != 1 {
		t.Errorf("%+v", st)
	}
	release()
}

// Child tasks inherit priorities and labels, and policies see them, for the running and for the
// arriving task.
func TestPrioritiesAndLabelsAreSeen(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"priority": 0, "gold": 0, "arriving": 0}))
	register(t, rt, Policy{Name: "task", On: OnNotify("look"), Expr: `set("priority", task.priority); task.labels["tenant"] == "gold" ? set("gold", state.gold + 1) : continue()`})
	register(t, rt, Policy{Name: "arriving", On: OnEnqueue, Expr: `arriving.labels["tenant"] == "gold" and arriving.priority == 5 ? set("arriving", state.arriving + 1) : continue()`})
	ctx := WithLabel(WithPriority(background, 5), "tenant", "gold")
	must(t, rt.Run(ctx, "job", func(ctx context.Context) error {
		rt.Notify("look", 0)
		return rt.Run(ctx, "child", func(ctx context.Context) error {
			rt.Notify("look", 0)
			return rt.Run(WithLabel(WithPriority(ctx, -3), "tenant", "tin"), "other", func(context.Context) error {
				rt.Notify("look", 0)
				return nil
			})
		})
	}))
	if p, g, a := rt.State("priority"), rt.State("gold"), rt.State("arriving"); p != int64(-3) || g != int64(2) || a != int64(2) {
		t.Errorf("priority %v, gold %v, arriving %v", p, g, a)
	}
	must(t, rt.Run(background, "plain", func(ctx context.Context) error { rt.Notify("look", 0); return nil }))
	if p, g := rt.State("priority"), rt.State("gold"); p != int64(0) || g != int64(2) {
		t.Errorf("without attributes: priority %v, gold %v", p, g)
	}
}

func TestEmptyLabelPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	WithLabel(background, "", "x")
}

// TaskOf works with contexts derived from the task's.
func TestTaskOfDerivedContexts(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.Run(background, "outer", func(outer context.Context) error {
		return rt.Run(context.WithValue(WithPriority(outer, 1), keyOfTest{}, 1), "inner", func(ctx context.Context) error {
			task := TaskOf(WithLabel(context.WithValue(ctx, keyOfTest{}, 2), "a", "b"))
			if task != TaskOf(ctx) || task.Parent() != TaskOf(outer) || !slices.Equal(task.Stack(), []string{"outer", "inner"}) {
				t.Errorf("%v", task.Path())
			}
			if task.Kind() != Atomic || task.Loop() != rt.Loop() || task.Status() != Started {
				t.Errorf("%v, %v, %v", task.Kind(), task.Loop().Name(), task.Status())
			}
			return nil
		})
	}))
}
