package cocoon

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/safepoint"
)

func newLoopOf(t testing.TB, rt *Runtime, name string, slots int) *Loop {
	t.Helper()
	l, err := rt.NewLoop(LoopConfig{Name: name, Slots: slots})
	must(t, err)
	return l
}

// Inside a task, Run on the same loop keeps the slot: no other task gets in between.
func TestNestedRunKeepsTheSlot(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	var waiting *Handle
	must(t, rt.Run(background, "outer", func(ctx context.Context) error {
		waiting = rt.Go(background, "waiter", func(context.Context) error { return nil })
		eventually(t, "the other to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
		for range 10 {
			err := rt.Run(ctx, "inner", func(inner context.Context) error {
				SafePoint(inner)
				if p := TaskOf(inner).Path(); p != "outer/inner" {
					t.Errorf("the inner task is %s", p)
				}
				return rt.Run(inner, "innermost", func(context.Context) error { return nil })
			})
			must(t, err)
		}
		if st := rt.Loop().Stats(); st.Queued != 1 || st.Busy != 1 {
			t.Errorf("%+v", st)
		}
		return nil
	}))
	must(t, waiting.Wait(background))
}

// Two loops with one slot each, with tasks that run tasks on the other loop, cannot deadlock.
func TestLoopsCallEachOther(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	a, b := newLoopOf(t, rt, "a", 1), newLoopOf(t, rt, "b", 1)
	cross := func(from, to *Loop) *Handle {
		return from.Go(background, "cross", func(ctx context.Context) error {
			for range 200 {
				err := to.Run(ctx, "there", func(ctx context.Context) error {
					return from.Run(ctx, "and back", func(context.Context) error { return nil })
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	within(t, "both ways", func() {
		x, y := cross(a, b), cross(b, a)
		must(t, x.Wait(background))
		must(t, y.Wait(background))
	})
}

// A library that calls Run with its own context inside a task must not wait for the slot held by
// its caller.
func TestRunWithoutTheTasksContextDoesNotDeadlock(t *testing.T) {
	for _, slots := range []int{1, 2} {
		rt := start(t, Config{Slots: slots, StallAfter: -1})
		within(t, "three tasks deep", func() {
			must(t, rt.Run(background, "outer", func(ctx context.Context) error {
				return rt.Run(background, "stranger", func(ctx context.Context) error {
					if TaskOf(ctx).Parent() != nil {
						t.Error("it has a parent")
					}
					return rt.Run(background, "another", func(context.Context) error { return nil })
				})
			}))
		})
	}
}

// The poll of instrumented code has no context. Inside such a task it handles requests to that
// task, not to the one around it, and an atomic task is not switched out by a request to the outer
// task (invariant 3).
func TestPollAnswersForTheInnermostTask(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	signal := throwOnSignal(t, rt, "stranger")
	outerEnds := false
	must(t, rt.Run(background, "outer", func(ctx context.Context) error {
		err := rt.Run(background, "stranger", func(ctx context.Context) error {
			signal()
			for end := time.Now().Add(patience); time.Now().Before(end); {
				safepoint.Poll()
			}
			return nil
		})
		preemption(t, err)
		outerEnds = true
		return ctx.Err()
	}))
	if !outerEnds {
		t.Error("the throw went to the outer task")
	}
}

// A throw into the outer task waits until the inner task has ended.
func TestThrowIntoTheOuterOfTwo(t *testing.T) {
	for _, slots := range []int{1, 2} {
		rt := start(t, Config{Slots: slots, StallAfter: -1})
		innerEnds := false
		err := rt.Run(background, "outer", func(ctx context.Context) error {
			outer := TaskOf(ctx)
			must(t, rt.Run(background, "stranger", func(inner context.Context) error {
				outer.Cancel()
				for range 1000 {
					safepoint.Poll()
					SafePoint(inner)
				}
				innerEnds = true
				return inner.Err()
			}))
			return spinForever(ctx)
		})
		if !errors.Is(err, ErrCancelled) || !innerEnds {
			t.Errorf("%d slots: got %v, the inner ended %v", slots, err, innerEnds)
		}
	}
}

// Run inside Block: the outer task holds no slot, so the inner task waits for its own.
func TestRunInsideBlock(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	within(t, "the inner task", func() {
		must(t, rt.Run(background, "outer", func(ctx context.Context) error {
			err := Block(ctx, func() error {
				return rt.Run(ctx, "inner", func(inner context.Context) error {
					if st := rt.Loop().Stats(); st.Busy != 1 {
						t.Errorf("%d slots are busy", st.Busy)
					}
					return Block(inner, func() error {
						return rt.Run(background, "stranger", func(context.Context) error { return nil })
					})
				})
			})
			SafePoint(ctx)
			return err
		}))
	})
}

// The outer task's context used inside the inner task refers to the inner task, because that is
// running.
func TestOuterContextInsideTheInnerTask(t *testing.T) {
	for name, inside := range map[string]func(outer context.Context, fn func() error) error{
		"run":   func(_ context.Context, fn func() error) error { return fn() },
		"block": Block,
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, StallAfter: -1})
			signal := throwOnSignal(t, rt, "inner")
			must(t, rt.Run(background, "outer", func(ctx context.Context) error {
				return inside(ctx, func() error {
					err := rt.Run(ctx, "inner", func(inner context.Context) error {
						err := Block(ctx, func() error {
							if busy := rt.Loop().Stats().Busy; busy != 0 {
								t.Errorf("blocked by the outer context, %d slots are busy", busy)
							}
							return nil
						})
						Yield(ctx)
						preemption(t, inSection(ctx, "s", func() error { signal(); return spinForever(ctx) }))
						signal()
						spinForever(ctx)
						return err
					})
					preemption(t, err)
					return nil
				})
			}))
		})
	}
}

// Block inside a nested task gives up the slot that both share, and gets one for both.
func TestBlockInsideANestedTask(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.Run(background, "outer", func(ctx context.Context) error {
		return rt.Run(ctx, "inner", func(inner context.Context) error {
			return Block(inner, func() error {
				return rt.Go(background, "other", func(context.Context) error { return nil }).Wait(background)
			})
		})
	}))
}

// Invariant 5: however the inner task ends, the outer task gets its slot back.
func TestNestedTaskEndsBadly(t *testing.T) {
	for name, end := range map[string]func(ctx context.Context) error{
		"panic": func(context.Context) error { panic("x") },
		"throw": func(ctx context.Context) error { TaskOf(ctx).Cancel(); return spinForever(ctx) },
		"error": func(context.Context) error { return errors.New("x") },
	} {
		for _, on := range []string{"same", "other"} {
			t.Run(name+" on the "+on+" loop", func(t *testing.T) {
				rt := start(t, Config{Slots: 1, StallAfter: -1})
				l := rt.Loop()
				if on == "other" {
					l = newLoopOf(t, rt, "other", 1)
				}
				must(t, rt.Run(background, "outer", func(ctx context.Context) error {
					func() {
						defer func() { recover() }()
						if l.Run(ctx, "inner", end) == nil {
							t.Error("no error")
						}
					}()
					if busy := rt.Loop().Stats().Busy; busy != 1 {
						t.Errorf("%d slots are busy", busy)
					}
					Yield(ctx)
					return nil
				}))
			})
		}
	}
	rt := start(t, Config{Slots: 1})
	h := rt.Go(background, "outer", func(ctx context.Context) error {
		return rt.Run(ctx, "inner", func(context.Context) error { runtime.Goexit(); return nil })
	})
	if err := h.Wait(background); !errors.Is(err, ErrGoexit) {
		t.Error(err)
	}
}

// A nested task may be switched out only if both kinds allow it: an atomic task around a
// preemptible one is not switched out.
func TestNestedTaskInheritsAtomicity(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(Every(100 * time.Microsecond))
	must(t, err)
	var got atomic.Bool
	var get *Handle
	must(t, rt.Run(background, "atomic", func(ctx context.Context) error {
		return rt.Run(ctx, "scan", func(ctx context.Context) error {
			get = rt.Go(background, "get", func(context.Context) error { got.Store(true); return nil })
			eventually(t, "the get to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
			for end := time.Now().Add(10 * time.Millisecond); time.Now().Before(end); {
				SafePoint(ctx)
			}
			if got.Load() {
				t.Error("switched out inside an atomic task")
			}
			return nil
		})
	}))
	must(t, get.Wait(background))
}

// A nested task starts ahead of the queue, because its outer task holds the slot. Afterwards the
// bound on started tasks applies again.
func TestNestedTaskAndMaxStarted(t *testing.T) {
	rt := start(t, Config{Slots: 2, MaxStarted: 2, StallAfter: -1})
	within(t, "the one that was held", func() {
		must(t, rt.Run(background, "outer", func(ctx context.Context) error {
			var held *Handle
			must(t, rt.Run(ctx, "inner", func(ctx context.Context) error {
				held = rt.Go(background, "held", func(context.Context) error { return nil })
				eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
				return nil
			}))
			<-held.Done() // on the other slot, while this task goes on
			return nil
		}))
	})
}

// Policies see nested tasks start and end.
func TestNestedTaskIsSeenByPolicies(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"enqueued": 0, "started": 0, "ended": 0}))
	register(t, rt, Policy{Name: "q", On: OnEnqueue, Match: Match{Tasks: []string{"inner"}}, Expr: `set("enqueued", state.enqueued + 1)`})
	register(t, rt, Policy{Name: "s", On: OnStart, Match: Match{Tasks: []string{"inner"}}, Expr: `set("started", state.started + 1)`})
	register(t, rt, Policy{Name: "e", On: OnExit, Match: Match{Tasks: []string{"inner"}}, Expr: `set("ended", state.ended + 1)`})
	must(t, rt.Run(background, "outer", func(ctx context.Context) error {
		return rt.Run(ctx, "inner", func(context.Context) error { return nil })
	}))
	for _, s := range []string{"enqueued", "started", "ended"} {
		if n := rt.State(s); n != int64(1) {
			t.Errorf("%s: %v", s, n)
		}
	}
}

// An enqueue policy refuses a nested task like any other.
func TestNestedTaskIsRefused(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	register(t, rt, Policy{Name: "no", On: OnEnqueue, Expr: `arriving.name == "inner" ? throw("not now") : continue()`})
	must(t, rt.Run(background, "outer", func(ctx context.Context) error {
		err := rt.Run(ctx, "inner", func(context.Context) error { t.Error("it ran"); return nil })
		if pe := preemption(t, err); pe.Started || pe.Task != "outer/inner" {
			t.Errorf("%+v", pe)
		}
		if busy := rt.Loop().Stats().Busy; busy != 1 {
			t.Errorf("%d slots are busy", busy)
		}
		return nil
	}))
}
