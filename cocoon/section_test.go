package cocoon

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/notify"
)

func inSection(ctx context.Context, name string, fn func() error) error {
	_, err := Section(ctx, name, func() (struct{}, error) { return struct{}{}, fn() })
	return err
}

func TestSectionReturnsWhatItsFunctionDoes(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	want := errors.New("x")
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		if v, err := Section(ctx, "s", func() (int, error) { return 7, want }); v != 7 || err != want {
			t.Errorf("got %v, %v", v, err)
		}
		return nil
	}))
}

// Without a task in the context the functions only call their arguments.
func TestContextWithoutATask(t *testing.T) {
	start(t, Config{Slots: 1})
	ctx := background
	if v, err := Section(ctx, "s", func() (int, error) { return 7, nil }); v != 7 || err != nil {
		t.Errorf("Section: %v, %v", v, err)
	}
	SafePoint(ctx)
	Yield(ctx)
	want := errors.New("x")
	if err := Block(ctx, func() error { return want }); err != want {
		t.Errorf("Block: %v", err)
	}
	if task := TaskOf(ctx); task != nil {
		t.Errorf("TaskOf: %v", task)
	}
}

// The same on a goroutine other than the task's, with the task's context.
func TestContextOnAnotherGoroutine(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		TaskOf(ctx).Cancel()
		within(t, "a foreign goroutine", func() {
			SafePoint(ctx)
			Yield(ctx)
			if err := inSection(ctx, "s", func() error { SafePoint(ctx); return Block(ctx, func() error { return nil }) }); err != nil {
				t.Error(err)
			}
		})
		return nil
	}))
}

// A throw into a section ends at its boundary: the task goes on, and its context lives.
func TestThrowEndsAtTheSection(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	signal := throwOnSignal(t, rt, "job")
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		for range 3 {
			err := inSection(ctx, "outer", func() error {
				err := inSection(ctx, "inner", func() error {
					signal()
					return spinForever(ctx)
				})
				if pe := preemption(t, err); pe.Section != "inner" || !strings.Contains(err.Error(), `section "inner"`) {
					t.Errorf("%v", err)
				}
				return nil
			})
			if err != nil {
				t.Errorf("the outer section: %v", err)
			}
			if ctx.Err() != nil {
				t.Errorf("the context ended: %v", context.Cause(ctx))
			}
			for range 1000 {
				SafePoint(ctx)
			}
		}
		return nil
	}))
}

// A section does not catch a throw that was made for the task itself before the section was opened:
// the task's context has ended.
func TestThrowIntoTheTaskPassesThroughSections(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	err := rt.Run(background, "job", func(ctx context.Context) error {
		signal()
		err := inSection(ctx, "late", func() error { return spinForever(ctx) })
		t.Errorf("the section caught it: %v", err)
		return nil
	})
	preemption(t, err)
}

// Cancel passes through all sections, even if one of them is about to catch another throw.
func TestCancelPassesThroughSections(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	signal := throwOnSignal(t, rt, "job")
	err := rt.Run(background, "job", func(ctx context.Context) error {
		return inSection(ctx, "a", func() error {
			return inSection(ctx, "b", func() error {
				TaskOf(ctx).Cancel()
				return spinForever(ctx)
			})
		})
	})
	if !errors.Is(err, ErrCancelled) {
		t.Errorf("got %v", err)
	}
	err = rt.Run(background, "job", func(ctx context.Context) error {
		inSection(ctx, "a", func() error {
			defer TaskOf(ctx).Cancel() // while the policy's throw unwinds
			signal()
			return spinForever(ctx)
		})
		return spinForever(ctx)
	})
	if !errors.Is(err, ErrCancelled) {
		t.Errorf("cancelled during a throw: got %v", err)
	}
}

// Invariant 6: a throw into a section that has ended is void.
func TestThrowForAnEndedSectionIsVoid(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	signal := throwOnSignal(t, rt, "job")
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		must(t, inSection(ctx, "gone", func() error { signal(); return nil }))
		for range 1000 {
			SafePoint(ctx)
		}
		// The throw is swallowed, and then the section ends by itself.
		must(t, inSection(ctx, "gone", func() error {
			signal()
			func() {
				defer func() { recover() }()
				spinForever(ctx)
			}()
			return nil
		}))
		for end := time.Now().Add(5 * time.Millisecond); time.Now().Before(end); {
			SafePoint(ctx)
		}
		return ctx.Err()
	}))
	if void := rt.Loop().Stats().Void; void != 2 {
		t.Errorf("%d throws were void; want 2", void)
	}
}

// Invariant 6: such a throw does not end the task's context either, if the verdict came at the very
// end of the section and the task passes no safe point after it.
func TestVoidThrowLeavesTheContextAlone(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		s := TaskOf(ctx).strand
		var id uint64
		must(t, inSection(ctx, "gone", func() error {
			id = s.sections.open.Load()[0].id.Load()
			return nil
		}))
		// As a policy does that has read the sections just before this one ended.
		s.loop.lockAll()
		s.postThrow(s.preempted("late", "late", "gone", nil, 0), id, notify.Now())
		s.loop.unlock()
		for end := time.Now().Add(50 * time.Millisecond); time.Now().Before(end); {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
		}
		SafePoint(ctx)
		return nil
	}))
}

// A time limit on the outer of two sections throws into the task in the inner one, and again after
// it, until the outer section ends.
func TestTimeLimitOnTheOuterSection(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "outer", Limit: 5 * time.Millisecond})
	must(t, err)
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		err := inSection(ctx, "outer", func() error {
			err := inSection(ctx, "inner", func() error { return spinForever(ctx) })
			if pe := preemption(t, err); pe.Section != "inner" {
				t.Errorf("%+v", pe)
			}
			return spinForever(ctx)
		})
		if pe := preemption(t, err); pe.Section != "outer" || pe.Policy != "time-limit/outer" {
			t.Errorf("%+v", pe)
		}
		return ctx.Err()
	}))
}

// Policies see the outermost 16 sections. Deeper sections also work, and catch throws.
func TestMoreSectionsThanPoliciesSee(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	must(t, rt.RegisterState(map[string]any{"seen": 0}))
	register(t, rt, Policy{Name: "look", On: OnNotify("look"), Expr: `set("seen", count(task.stack, # == "s"))`})
	signal := throwOnSignal(t, rt, "job")
	caught, seen := 0, any(nil)
	var dive func(ctx context.Context, depth int) error
	dive = func(ctx context.Context, depth int) error {
		err := inSection(ctx, "s", func() error {
			if depth == 20 {
				rt.Notify("look", 0)
				seen = rt.State("seen")
				signal()
				return spinForever(ctx)
			}
			return dive(ctx, depth+1)
		})
		if err != nil {
			caught = depth
		}
		return nil
	}
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		must(t, dive(ctx, 1))
		rt.Notify("look", 0)
		return ctx.Err()
	}))
	if caught != 20 {
		t.Errorf("the section at depth %d caught the throw; want the innermost, 20", caught)
	}
	if seen != int64(16) {
		t.Errorf("a policy sees %v of 20 sections; want 16", seen)
	}
	if n := rt.State("seen"); n != int64(0) {
		t.Errorf("a policy sees %v sections after the last has ended", n)
	}
}

// If the function of a section does not poll, but waits for the section's own context, a throw into
// the section ends that context alone.
func TestThrowEndsTheContextOfAWaitingTask(t *testing.T) {
	for name, wait := range map[string]func(ctx context.Context) error{
		"running": func(ctx context.Context) error { <-ctx.Done(); return context.Cause(ctx) },
		"blocked": func(ctx context.Context) error {
			return Block(ctx, func() error { <-ctx.Done(); return context.Cause(ctx) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			var log journal
			rt := start(t, Config{Slots: 1, StallAfter: time.Millisecond, Logger: log.logger()})
			signal := throwOnSignal(t, rt, "job")
			within(t, "the wait", func() {
				must(t, rt.Run(background, "job", func(ctx context.Context) error {
					_, err := SectionContext(ctx, "s", func(ctx context.Context) (int, error) {
						defer SafePoint(ctx)
						signal()
						return 0, wait(ctx)
					})
					preemption(t, err)
					return ctx.Err()
				}))
			})
			if rt.log.flush(); name == "running" && log.count("the section's own context, if it has one, has ended") != 1 {
				t.Errorf("the log does not say which context has ended:\n%v", &log)
			}
		})
	}
}

// The same with a verdict on the block itself.
func TestThrowAtABlock(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	register(t, rt, Policy{Name: "no-block", On: OnBlock, Expr: `task.section == "s" ? throw("do not block here") : continue()`})
	within(t, "the wait", func() {
		must(t, rt.Run(background, "job", func(ctx context.Context) error {
			preemption(t, inSection(ctx, "s", func() error {
				return Block(ctx, func() error { <-ctx.Done(); return nil })
			}))
			return ctx.Err()
		}))
	})
}

// Panics and Goexit pass through sections, and close them.
func TestSectionLetsPanicsThrough(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		func() {
			defer func() {
				if r := recover(); r != "boom" {
					t.Errorf("recovered %v", r)
				}
			}()
			inSection(ctx, "s", func() error { panic("boom") })
		}()
		if d := TaskOf(ctx).strand.sections.depth.Load(); d != 0 {
			t.Errorf("%d sections are open", d)
		}
		return nil
	}))
	h := rt.Go(background, "job", func(ctx context.Context) error {
		return inSection(ctx, "s", func() error { runtime.Goexit(); return nil })
	})
	if err := h.Wait(background); !errors.Is(err, ErrGoexit) {
		t.Error(err)
	}
}

// If the code turns a throw into another panic, it still ends at the section, whose error says so.
func TestThrowBecomesAPanicInASection(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	signal := throwOnSignal(t, rt, "job")
	must(t, rt.Run(background, "job", func(ctx context.Context) error {
		err := inSection(ctx, "outer", func() error {
			pe := preemption(t, inSection(ctx, "inner", func() error {
				defer func() { panic("mine") }()
				signal()
				return spinForever(ctx)
			}))
			if p := pe.Panic(); p == nil || p.Value != "mine" || !strings.Contains(string(p.Stack), "TestThrowBecomesAPanicInASection") {
				t.Errorf("%v became %+v", pe, p)
			}
			for range 1000 { // the throw has arrived
				SafePoint(ctx)
			}
			return nil
		})
		return err
	}))
}

// A handler that aborts because a call has returned the throw ends its section by the throw, also
// if no safe point has thrown it yet. Another panic stays as it is.
func TestSectionAbortedBeforeTheThrow(t *testing.T) {
	was := inside.Abort
	defer func() { inside.Abort = was }()
	inside.Abort = errors.New("abort")
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	limit(t, rt, "s")
	own := errors.New("its own")
	for _, value := range []error{inside.Abort, own} {
		func() {
			defer func() {
				if r := recover(); (r == own) != (value == own) {
					t.Errorf("panic(%v): the task ended with the panic %v", value, r)
				}
			}()
			must(t, rt.Run(background, "job", func(ctx context.Context) error {
				_, err := Section(ctx, "s", func() (int, error) {
					must(t, stall(func() bool { return strandOf(ctx).requests.Load()&wantThrow != 0 }))
					panic(value)
				})
				preemption(t, err)
				return nil
			}))
		}()
	}
}
