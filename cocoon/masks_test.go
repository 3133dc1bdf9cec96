package cocoon

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/safepoint"
)

// tree polls with 2^depth stacks.
func tree(depth int) {
	if depth == 0 {
		safepoint.Poll()
		return
	}
	tree(depth - 1)
	tree(depth - 1)
}

// While a request is pending, code under a lock polls about as fast as before, however many stacks
// it polls with: the frame that holds the lock is found, and the stack is not walked.
func TestManyStacksUnderALock(t *testing.T) {
	noteLocked()
	noteCleaningUp()
	rt := start(t, Config{Slots: 1})
	for name, hold := range map[string]func(func()){"a lock": locked, "a deferred call": cleaningUp} {
		t.Run(name, func(t *testing.T) {
			preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
				TaskOf(ctx).Cancel()
				hold(func() {
					s := strandOf(ctx)
					// the word is not raised yet
					for s.stacks.Load() == nil || s.stacks.Load().masked == nil || !s.stacks.Load().masked.by.IsHere() {
						safepoint.Poll()
					}
					tree(12)
					m := s.stacks.Load().masked
					if walks := m.next; !m.by.IsHere() || walks > 4096/anew+20 {
						t.Errorf("%d walks for 4096 stacks; want one for %d of them", walks, anew)
					}
				})
				return spinForever(ctx)
			}))
		})
	}
}

// The frame of a released lock masks nothing.
func TestMaskingFrameEnds(t *testing.T) {
	noteLocked()
	rt := start(t, Config{Slots: 1})
	for range 100 {
		inside := false
		preemption(t, rt.Run(background, "job", func(ctx context.Context) error {
			TaskOf(ctx).Cancel()
			for range 3 {
				locked(func() { tree(3) })
				if inside {
					t.Error("the first safe point after the lock is masked")
				}
				inside = true
				for !safepoint.Raised() { // on a crowded machine the timer lowers it for a while
					runtime.Gosched()
				}
				safepoint.Poll()
			}
			return nil
		}))
	}
}

// dive polls at the end of a recursion.
func dive(depth int) int {
	if depth > 0 {
		return dive(depth-1) + 1
	}
	spinPolling()
	return 0
}

// The stack of a recursion that does not end has millions of frames. A throw into it is not later
// than the frames are many: it took 15 s when each piece of the walk began at the top.
func TestThrowIntoADeepRecursion(t *testing.T) {
	noteDeferred()
	rt := start(t, Config{Slots: 1, StallAfter: time.Minute})
	_, err := rt.RegisterTimeLimit(TimeLimit{Func: "job", Limit: time.Duration(longtest.Count(200, 20)) * time.Millisecond})
	must(t, err)
	begin := time.Now()
	preemption(t, rt.Run(background, "job", func(context.Context) error { dive(500_000); return nil }))
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it was stopped after %v", took)
	}
}
