package cocoon

import (
	"context"
	"errors"
	"math"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// relay is a task that starts its successor, and so on. Each successor goes on when its predecessor
// has ended.
type relay struct {
	rt   *Runtime
	wrap func(ctx context.Context, link int) context.Context
	more func(ctx context.Context, link int) bool // reports whether the link starts another; the last link goes on
	last chan *Handle
}

type linkOfTest int

// links starts a chain and returns its first link.
func (c *relay) links() *Handle {
	c.last = make(chan *Handle, 1)
	return c.link(background, 0, nil)
}

func (c *relay) link(ctx context.Context, n int, before *Handle) (h *Handle) {
	known := make(chan struct{})
	defer close(known)
	h = c.rt.Go(c.wrap(ctx, n), "job", func(ctx context.Context) error {
		<-known
		if before != nil {
			<-before.Done()
		}
		if !c.more(ctx, n) {
			c.last <- h
			return spinForever(ctx)
		}
		c.link(ctx, n+1, h)
		return nil
	})
	return h
}

// chains are contexts for the links of a chain.
var chains = map[string]func(ctx context.Context, link int) context.Context{
	"bare": func(ctx context.Context, _ int) context.Context { return ctx },
	"done": func(ctx context.Context, _ int) context.Context { ctx.Done(); return ctx },
	"a value at first": func(ctx context.Context, link int) context.Context {
		if link == 0 {
			return context.WithValue(ctx, keyOfTest{}, 7)
		}
		return ctx
	},
	"a value in the midst": func(ctx context.Context, link int) context.Context {
		if link == 500 {
			return context.WithValue(ctx, keyOfTest{}, 7)
		}
		return ctx
	},
}

// TestChainStaysShort: each link costs as much as the previous one, in memory and time, and its
// names do not grow.
func TestChainStaysShort(t *testing.T) {
	length := longtest.Count(20_000, 2_000)
	for name, wrap := range chains {
		t.Run(name, func(t *testing.T) {
			var early, late uint64
			var earlyAnswer, lateAnswer time.Duration
			heap := func() uint64 {
				runtime.GC()
				runtime.GC()
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				return m.HeapAlloc
			}
			c := &relay{rt: start(t, Config{Slots: 2}), wrap: wrap, more: func(ctx context.Context, n int) bool {
				task := TaskOf(ctx)
				if depth := len(task.Stack()); depth != min(n+1, depth) || depth > maxAncestors+3 {
					t.Errorf("link %d has %d names", n, depth)
				}
				switch n {
				case 1000:
					early, earlyAnswer = heap(), answers(t, ctx)
				case length:
					late, lateAnswer = heap(), answers(t, ctx)
					if v := ctx.Value(keyOfTest{}); (name != "bare" && name != "done") != (v == 7) {
						t.Errorf("the value is %v", v)
					}
				}
				return n < length
			}}
			first := c.links()
			last := receive(t, "the last link", c.last)
			if late > early+uint64(longtest.Count(1<<18, 1<<17)) {
				t.Errorf("the heap grew by %d bytes between link 1000 and %d", late-early, length)
			}
			if lateAnswer > 5*earlyAnswer {
				t.Errorf("1000 questions to the context of a link take %v, and %v at link 1000", lateAnswer, earlyAnswer)
			}
			if first.Task().Status() != Returned || last.Task().Stack()[0] != "job" {
				t.Error(first.Task().Status(), last.Task().Path())
			}
			first.Cancel()
			if err := last.Wait(background); !errors.Is(err, ErrCancelled) {
				t.Errorf("the last link: %v", err)
			}
		})
	}
}

// answers returns how long the context takes to answer 1000 questions, at best.
func answers(t *testing.T, ctx context.Context) time.Duration {
	best := time.Duration(math.MaxInt64)
	for range 10 {
		begin := time.Now()
		for range 1000 {
			if ctx.Err() != nil || ctx.Value("no such key") != nil {
				t.Fatal("it has ended, or a value of nowhere")
			}
		}
		best = min(best, time.Since(begin))
	}
	return best
}

// TestChainOfMadeContexts: a link with a context derived from its predecessor's keeps that context.
// No value is missing, and no context ends before its task.
func TestChainOfMadeContexts(t *testing.T) {
	const length = 3 * maxAncestors
	c := &relay{rt: start(t, Config{Slots: 2}), wrap: func(ctx context.Context, n int) context.Context {
		ctx, cancel := context.WithCancel(context.WithValue(ctx, linkOfTest(n), n))
		t.Cleanup(cancel)
		return ctx
	}}
	c.more = func(ctx context.Context, n int) bool {
		for i := range n + 1 {
			if ctx.Value(linkOfTest(i)) != i {
				t.Errorf("link %d: the value of link %d is %v", n, i, ctx.Value(linkOfTest(i)))
			}
		}
		if ctx.Err() != nil {
			t.Errorf("link %d: %v", n, ctx.Err())
		}
		return n < length
	}
	first := c.links()
	last := receive(t, "the last link", c.last)
	first.Cancel()
	if err := last.Wait(background); !errors.Is(err, ErrCancelled) {
		t.Errorf("the last link: %v", err)
	}
}

// TestLeftOut: the first link of a long chain remains the parent, and ends with the last. A link in
// the middle has ended, and its Cancel reaches no task.
func TestLeftOut(t *testing.T) {
	var first, midst context.Context
	var ended <-chan struct{}
	c := &relay{rt: start(t, Config{Slots: 2}), wrap: chains["bare"]}
	c.more = func(ctx context.Context, n int) bool {
		switch n {
		case 0:
			first = ctx
		case 10:
			midst, ended = ctx, ctx.Done()
		}
		return n < 3*maxAncestors
	}
	c.links()
	last := receive(t, "the last link", c.last)
	receive(t, "the end of a context in the midst", ended)
	if midst.Err() != context.Canceled || first.Err() != nil || last.Task().Status() != Started {
		t.Errorf("in the midst %v, at first %v; the last is %v", midst.Err(), first.Err(), last.Task().Status())
	}
	if up := TaskOf(midst).Parent(); up != TaskOf(first) {
		t.Errorf("the parent of the one in the midst is %v", up)
	}
	if kids := TaskOf(first).Children(); len(kids) != 1 {
		t.Errorf("the first has %d children", len(kids))
	}
	TaskOf(midst).Cancel()
	if err := (*taskContext)(last.Task()).Err(); err != nil {
		t.Errorf("Cancel of one that was left out reached the last: %v", err)
	}
	TaskOf(first).Cancel()
	<-last.Done()
	receive(t, "the end of the first", first.Done())
	if n := len(TaskOf(first).Children()); n != 0 {
		t.Errorf("the first has %d children at the end", n)
	}
}

// TestEndReachesBareContexts: a throw into a task ends the contexts of the tasks that it started
// with its own context: a task that waits for the context, a task in the queue, and their children.
func TestEndReachesBareContexts(t *testing.T) {
	for name, prepare := range map[string]func(*Runtime){
		"not asked": func(*Runtime) {},
		"asked": func(rt *Runtime) { // reads on arrival whether contexts have ended
			register(t, rt, Policy{Name: "ask", On: OnNotify("never"), Expr: `task.cancelled ? throw("x") : continue()`})
		},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 3})
			prepare(rt)
			endReaches(t, rt)
		})
	}
}

func endReaches(t *testing.T, rt *Runtime) {
	register(t, rt, Policy{Name: "end", On: OnNotify("end"), Match: Match{Tasks: []string{"parent"}}, Expr: `throw("enough")`})
	other := newLoopOf(t, rt, "other", 1)
	other.Hold()
	defer other.Release()
	var thrown *PreemptedError
	enough := func(err error) bool {
		return errors.As(err, &thrown) && thrown.Reason == "enough" && thrown.Task == "parent"
	}
	inner := make(chan context.Context, 2)
	var children [2]*Handle
	parent := rt.Go(background, "parent", func(ctx context.Context) error {
		children[0] = rt.Go(ctx, "waits", func(ctx context.Context) error {
			inner <- ctx
			rt.Go(ctx, "does not ask", func(ctx context.Context) error { inner <- ctx; return nil })
			return Block(ctx, func() error { <-ctx.Done(); return context.Cause(ctx) })
		})
		children[1] = other.Go(ctx, "queued", func(context.Context) error { t.Error("it ran"); return nil })
		eventually(t, "it to wait", func() bool { return other.Stats().Queued == 1 && len(inner) == 2 })
		rt.Notify("end", 0)
		return spinForever(ctx)
	})
	if err := parent.Wait(background); !enough(err) {
		t.Errorf("the parent: %v", err)
	}
	for _, c := range children {
		if err := c.Wait(background); !enough(err) {
			t.Errorf("%s: %v", c.Task().Name(), err)
		}
	}
	if s := children[1].Task().Status(); s != CancelledBeforeStart {
		t.Errorf("the one in the queue is %v", s)
	}
	for range 2 {
		if ctx := <-inner; ctx.Err() == nil || TaskOf(ctx).Name() == "waits" && !enough(context.Cause(ctx)) {
			t.Errorf("%s: %v, %v", TaskOf(ctx).Path(), ctx.Err(), context.Cause(ctx))
		}
	}
}

// TestDeepRecursion: live tasks are never left out, however many there are.
func TestDeepRecursion(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	const depth = 4 * maxAncestors
	var run func(ctx context.Context, n int) error
	run = func(ctx context.Context, n int) error {
		return rt.Run(ctx, "job", func(ctx context.Context) error {
			if names := TaskOf(ctx).Stack(); len(names) != n+1 || slices.ContainsFunc(names, func(s string) bool { return s != "job" }) {
				t.Errorf("at depth %d there are %d names", n, len(names))
			}
			if n == depth {
				return ctx.Err()
			}
			return run(ctx, n+1)
		})
	}
	must(t, run(background, 0))
}

// TestCancelCatchesTheChain: Cancel misses no task while tasks are handed over.
func TestCancelCatchesTheChain(t *testing.T) {
	rt := start(t, Config{Slots: 4})
	for round := range longtest.Count(200, 15) {
		waiting := make(chan *Handle, 1000)
		c := &relay{rt: rt, wrap: func(ctx context.Context, n int) context.Context {
			if n%50 == 49 {
				return WithLabel(ctx, "n", "x")
			}
			return ctx
		}}
		c.more = func(ctx context.Context, n int) bool {
			if n%7 == 0 && n < 900 {
				waiting <- rt.Go(ctx, "waits", func(ctx context.Context) error {
					return Block(ctx, func() error { <-ctx.Done(); return context.Cause(ctx) })
				})
			}
			return true
		}
		first := c.links()
		eventually(t, "some links", func() bool { return len(waiting) > 8+round%16 })
		first.Cancel()
		eventually(t, "the end of all", func() bool { return rt.Stats().Tasks == 0 })
		close(waiting)
		for h := range waiting {
			if err := h.Wait(background); !errors.Is(err, context.Canceled) {
				t.Fatalf("round %d: one that waits for its context: %v", round, err)
			}
		}
		// A link that was refused is not in Stats, and may not have left its parent yet.
		eventually(t, "the first to lose its children", func() bool { return len(first.Task().Children()) == 0 })
		if !closed((*taskContext)(first.Task()).Done()) {
			t.Fatalf("round %d: the context of the first: %v", round, (*taskContext)(first.Task()).Err())
		}
	}
}

// TestDeadlineKeepsItsError: a context ended by its deadline has the deadline's error, in whatever
// order the errors are read.
func TestDeadlineKeepsItsError(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	ctx, cancel := context.WithDeadline(background, time.Now().Add(5*time.Millisecond))
	defer cancel()
	rt.Run(ctx, "outer", func(outer context.Context) error {
		return rt.Run(outer, "inner", func(inner context.Context) error {
			receive(t, "the deadline", outer.Done())
			for _, ctx := range []context.Context{inner, outer} {
				if ctx.Err() != context.DeadlineExceeded || context.Cause(ctx) != context.DeadlineExceeded {
					t.Errorf("%v: %v, %v", ctx, ctx.Err(), context.Cause(ctx))
				}
			}
			return nil
		})
	})
}
