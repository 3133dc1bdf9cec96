package cocoon

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// nestedLive starts tasks, each inside the one before, which all live until their context ends. It
// returns the outermost handle, when the innermost task runs. look is called inside each task.
func nestedLive(t *testing.T, rt *Runtime, depth int, look func(ctx context.Context, n int)) *Handle {
	innermost := make(chan struct{})
	var link func(ctx context.Context, n int) error
	link = func(ctx context.Context, n int) error {
		if look != nil {
			look(ctx, n)
		}
		if n == depth {
			close(innermost)
		} else {
			rt.Go(ctx, "job", func(ctx context.Context) error { return link(ctx, n+1) })
		}
		return Block(ctx, func() error { <-ctx.Done(); return context.Cause(ctx) })
	}
	h := rt.Go(background, "job", func(ctx context.Context) error { return link(ctx, 1) })
	receive(t, "the innermost task", innermost)
	return h
}

// In a chain of live tasks the innermost one starts, asks its context and names itself at the cost
// of the first ones. Without the notes of earlier searches this test would look at 20 million tasks.
func TestDeepTasksLookAtFewOthers(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	const depth = 2000
	nestedLive(t, rt, depth, func(ctx context.Context, n int) {
		task := TaskOf(ctx)
		for range 10 {
			if above, looked := task.searchAbove(); above != nil || looked > fewAbove+1 {
				t.Errorf("at depth %d a search found %v and looked at %d tasks", n, above, looked)
			}
		}
		if names := strings.Count(task.Path(), "/") + 1; names != min(n, maxPath+1) {
			t.Errorf("at depth %d the path has %d names", n, names)
		}
	}).Cancel()
	eventually(t, "the end of all", func() bool { return rt.Stats().Tasks == 0 })
}

// The end of a context far above is seen at once, whatever earlier searches have noted: by the
// context, by derived contexts and by tasks that start.
func TestEndFarAboveIsSeen(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	const depth = 100
	contexts := make(chan context.Context, depth)
	var h *Handle
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	go func() {
		h = nestedLive(t, rt, depth, func(ctx context.Context, _ int) {
			if ctx.Err() != nil || ctx.Value(keyOfTest{}) != nil {
				t.Error("it has ended already")
			}
			contexts <- ctx
		})
		cancel()
	}()
	receive(t, "the innermost task", ctx.Done())
	h.Task().endContext(errors.New("enough"))
	for range depth {
		ctx := <-contexts
		if ctx.Err() == nil {
			t.Fatalf("%s has not ended", TaskOf(ctx).Path())
		}
		if err := rt.Run(ctx, "late", nothing); err == nil {
			t.Fatalf("a task starts in %s", TaskOf(ctx).Path())
		}
	}
}
