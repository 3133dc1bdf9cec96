package cocoon

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
)

// A task keeps what it acquires inside Block while a throw arrives: Block returns, and the deferred
// release is in place before the throw.
func TestBlockLosesNothing(t *testing.T) {
	for name, block := range map[string]func(context.Context, func() error) error{
		"Block": Block, "BlockCall": BlockCall,
		"Wait": func(ctx context.Context, fn func() error) (err error) { Wait(ctx, func() { err = fn() }); return err },
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			var mu sync.Mutex
			err := rt.Run(background, "job", func(ctx context.Context) error {
				must(t, block(ctx, func() error { mu.Lock(); TaskOf(ctx).Cancel(); return nil }))
				defer mu.Unlock()
				SafePoint(ctx)
				t.Error("it was not thrown into")
				return nil
			})
			if preemption(t, err); !mu.TryLock() {
				t.Error("the lock is lost")
			}
		})
	}
}

// The same with throws of policies: by a limit, and for a client that has gone.
func TestPoliciesLoseNoLock(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterPreemptibleFunc("job"))
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "job", Limit: 300 * time.Microsecond})
	must(t, err)
	register(t, rt, Policy{Name: "gone", On: OnUnblock, Expr: `task.cancelled ? throw("gone") : continue()`})
	var mu sync.Mutex
	lock := func() error { mu.Lock(); return nil }
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				ctx, cancel := context.WithTimeout(background, time.Millisecond)
				_ = rt.Run(ctx, "job", func(ctx context.Context) error {
					for range 3 {
						_ = Block(ctx, lock)
						func() {
							defer mu.Unlock()
							for begin := time.Now(); time.Since(begin) < 50*time.Microsecond; {
								SafePoint(ctx)
							}
						}()
					}
					return nil
				})
				cancel()
			}
		})
	}
	within(t, "tasks that share a lock", all.Wait)
	if !mu.TryLock() {
		t.Error("the lock is lost")
	}
}

// While a throw unwinds the task, its clean-up makes calls, starts tasks and has a context that
// works. When the task has ended, the throw has ended the context.
func TestCleanUpRuns(t *testing.T) {
	for name, detach := range map[string]func(context.Context) context.Context{
		"the task's context": func(ctx context.Context) context.Context { return ctx },
		"WithoutCancel":      context.WithoutCancel,
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1})
			signal := throwOnSignal(t, rt, "job")
			var done []string
			var own context.Context
			err := rt.Run(background, "job", func(ctx context.Context) error {
				own = ctx
				defer func() {
					ctx := detach(ctx)
					call := func(what string) func() error {
						return func() error {
							time.Sleep(time.Millisecond) // longer than grace, like a call of another server
							if ctx.Err() == nil {
								done = append(done, what)
							}
							return nil
						}
					}
					must(t, Block(ctx, call("Block")))
					must(t, BlockCall(ctx, call("BlockCall")))
					must(t, rt.Run(ctx, "compensation", func(context.Context) error { return call("Run")() }))
					must(t, rt.Go(ctx, "compensation", func(context.Context) error { return call("Go")() }).Wait(background))
				}()
				signal()
				return spinForever(ctx)
			})
			if pe := preemption(t, err); context.Cause(own) != error(pe) {
				t.Errorf("the context's cause is %v", context.Cause(own))
			}
			if len(done) != 4 {
				t.Errorf("of the clean-up ran %q", done)
			}
		})
	}
}

// The clean-up of a cancelled task also runs, with a context of its own.
func TestCleanUpOfTheCancelledRuns(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	called, ran := false, false
	err := rt.Run(background, "job", func(ctx context.Context) error {
		defer func() {
			ctx := context.WithoutCancel(ctx)
			must(t, BlockCall(ctx, func() error { called = true; return nil }))
			must(t, rt.Run(ctx, "compensation", func(context.Context) error { ran = true; return nil }))
		}()
		TaskOf(ctx).Cancel()
		return spinForever(ctx)
	})
	if !errors.Is(err, ErrCancelled) || !called || !ran {
		t.Errorf("%v; called %t, ran %t", err, called, ran)
	}
}

// Clean-up that waits for goroutines which wait for the context comes to an end.
func TestUnwindingThatWaitsEndsTheContext(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	for name, wait := range map[string]func(context.Context, *sync.WaitGroup){
		"unannounced": func(_ context.Context, g *sync.WaitGroup) { g.Wait() },
		"blocked":     func(ctx context.Context, g *sync.WaitGroup) { _ = Block(ctx, func() error { g.Wait(); return nil }) },
	} {
		within(t, name, func() {
			preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
				var g sync.WaitGroup
				g.Go(func() { <-ctx.Done() })
				defer wait(ctx, &g)
				signal()
				return spinForever(ctx)
			}))
		})
	}
}

// If a task fails after a throw has ended its context, its result is the throw, with the task's own
// error inside, because clients have errors of their own for the end of a context. A task that
// succeeds has succeeded.
func TestEndedContextIsTheThrow(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	own := errors.New("own")
	for _, c := range []struct {
		returned error
		thrown   bool
	}{{context.Canceled, true}, {own, true}, {nil, false}} {
		h := rt.Go(background, "job", func(ctx context.Context) error {
			return Block(ctx, func() error {
				TaskOf(ctx).Cancel()
				<-ctx.Done()
				return c.returned
			})
		})
		err := h.Wait(background)
		if c.thrown {
			if preemption(t, err); h.Task().Status() != CancelledBeforeReturn || !errors.Is(err, c.returned) {
				t.Errorf("it is %v, and returned %v; want %v inside", h.Task().Status(), err, c.returned)
			}
		} else if !errors.Is(err, c.returned) || h.Task().Status() != Returned {
			t.Errorf("it returned %v and is %v; want %v", err, h.Task().Status(), c.returned)
		}
	}
}

// A throw into a section does not end the task's context, whatever the section does: it waits, it
// blocks, its clean-up blocks, or it does not poll and then succeeds.
func TestSectionLeavesTheContext(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond})
	signal := throwOnSignal(t, rt, "job")
	for name, fn := range map[string]func(context.Context) error{
		"blocks": func(ctx context.Context) error {
			defer SafePoint(ctx)
			return Block(ctx, func() error { time.Sleep(20 * time.Millisecond); return nil })
		},
		"clean-up blocks": func(ctx context.Context) error {
			defer Block(ctx, func() error { time.Sleep(time.Millisecond); return nil })
			return spinForever(ctx)
		},
		"is silent": func(context.Context) error { time.Sleep(20 * time.Millisecond); return nil },
	} {
		must(t, rt.Run(background, "job", func(ctx context.Context) error {
			_ = inSection(ctx, "s", func() error { signal(); return fn(ctx) })
			time.Sleep(5 * time.Millisecond) // contexts are ended on another goroutine
			if ctx.Err() != nil {
				t.Errorf("%s: the task's context ended: %v", name, context.Cause(ctx))
			}
			return nil
		}))
	}
}

// The context of a section ends with the section, and with a throw into it. The contexts around it
// go on.
func TestSectionContext(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		var kept context.Context
		n, err := SectionContext(ctx, "s", func(ctx context.Context) (int, error) { kept = ctx; return 7, ctx.Err() })
		if n != 7 || err != nil || kept.Err() == nil || TaskOf(kept) != TaskOf(ctx) {
			t.Errorf("%d, %v; its context: %v", n, err, kept.Err())
		}
		_, err = SectionContext(ctx, "outer", func(outer context.Context) (int, error) {
			_, err := SectionContext(outer, "inner", func(inner context.Context) (int, error) {
				kept = inner
				signal()
				<-inner.Done()
				return 0, inner.Err()
			})
			if outer.Err() != nil {
				t.Errorf("the context around it: %v", outer.Err())
			}
			return 0, err
		})
		if pe := preemption(t, err); pe != context.Cause(kept) {
			t.Errorf("the section's context ended by %v", context.Cause(kept))
		}
		return ctx.Err()
	}))
	own := errors.New("own")
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		_, err := SectionContext(ctx, "s", func(ctx context.Context) (int, error) {
			signal()
			<-ctx.Done()
			return 0, own
		})
		if pe := preemption(t, err); pe.Returned() != own {
			t.Errorf("the section failed with %v; want the throw with its own error inside", err)
		}
		return ctx.Err()
	}))
	if n, err := SectionContext(background, "s", func(ctx context.Context) (int, error) { return 3, ctx.Err() }); n != 3 || err != nil {
		t.Errorf("without a task: %d, %v", n, err)
	}
}

// Clean-up calls with a context that the throw does not end are made even while the throw is
// pending, also if nothing unwinds because the code returns after a failed call. None of this is a
// safe point.
func TestCleanUpOfCodeThatReturns(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	for name, detach := range map[string]func(context.Context) (context.Context, context.CancelFunc){
		"WithoutCancel": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithoutCancel(ctx), func() {}
		},
		"with a time of its own": func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithTimeout(context.WithoutCancel(ctx), time.Minute)
		},
	} {
		undone := 0
		err := rt.Run(background, "job", func(ctx context.Context) error {
			defer func() {
				ctx, cancel := detach(ctx)
				defer cancel()
				for range 3 {
					undo := func() error { undone++; return ctx.Err() }
					must(t, Block(ctx, undo))
					must(t, BlockCall(ctx, undo))
					must(t, rt.Run(ctx, "undo", func(context.Context) error { return undo() }))
				}
			}()
			signal()
			return BlockCall(ctx, ctx.Err)
		})
		if preemption(t, err); undone != 9 {
			t.Errorf("%s: %d of 9 steps are undone", name, undone)
		}
	}
}

// A task that runs without a safe point for a while keeps its context: it does not wait for the
// context, and its deferred Rollback will need it.
func TestBusyTaskKeepsItsContext(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	goroutine.Learn()
	signal := throwOnSignal(t, rt, "job")
	kept, lost := 0, 0
	for end := time.Now().Add(patience); kept+lost < 20; {
		if time.Now().After(end) {
			t.Fatalf("the kernel left the core to %d of 20 tasks", kept+lost)
		}
		preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
			begin := time.Now()
			defer func() {
				switch had := ctx.Err() == nil; {
				case time.Since(begin) > time.Duration(callGrace): // the kernel took the core away
				case had:
					kept++
				default: // the timer came when Go made it wait for the collector
					lost++
				}
			}()
			signal()
			for begin := time.Now(); time.Since(begin) < 2*time.Millisecond; {
			}
			return spinForever(ctx)
		}))
	}
	if kept < 10 {
		t.Errorf("%d of 20 tasks had a context when they unwound", kept)
	}
}
