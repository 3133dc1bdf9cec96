package cocoon

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// A task in Block keeps its slot while no other task needs it, and no figure shows that. An
// arriving task gets the slot at once, also on a loop that lends none.
func TestRest(t *testing.T) {
	rt := start(t, Config{})
	l, err := rt.NewLoop(LoopConfig{Name: "one", Slots: 1, Exclusive: true})
	must(t, err)
	gate, blocked := make(chan struct{}), make(chan *strand, 1)
	var back atomic.Bool
	h := l.Go(background, "rests", func(ctx context.Context) error {
		defer back.Store(true)
		return Block(ctx, func() error {
			blocked <- TaskOf(ctx).strand
			<-gate
			return nil
		})
	})
	s := receive(t, "the task", blocked)
	if s.rest.Load() >= 0 {
		t.Error("it has given its slot up, though nobody waits")
	}
	if st := l.Stats(); st.Busy != 0 || st.Queued != 0 {
		t.Errorf("busy are %d, queued %d; want none", st.Busy, st.Queued)
	}
	other := begun(t, l, background, "other", func(ctx context.Context) error {
		close(gate)
		eventually(t, "the first to come back", func() bool { return l.Stats().Queued == 1 })
		if back.Load() {
			t.Error("it went on beside a task that has the only slot")
		}
		return nil
	})
	must(t, other.Wait(background))
	must(t, h.Wait(background))
}

// Rests do not count as running in the task's account, in the loop's account, or for a limit.
func TestRestIsNoRunning(t *testing.T) {
	rt := start(t, Config{Slots: 2})
	const times, each = 60, time.Millisecond
	work := func(ctx context.Context) error {
		for range times {
			must(t, Block(ctx, func() error { time.Sleep(each); return nil }))
		}
		return nil
	}
	for _, limited := range []bool{false, true} {
		if limited {
			register(t, rt, Policy{Name: "limit", On: Every(time.Millisecond), Expr: `task.running > duration("40ms") ? throw("late") : continue()`})
		}
		h := rt.Go(background, "rests", work)
		must(t, h.Wait(background))
		if a := h.Account(); a.Blocked < times*each || a.Running > 30*time.Millisecond {
			t.Errorf("limited %v: it ran for %v and was blocked for %v", limited, a.Running, a.Blocked)
		}
		must(t, rt.Run(background, "rests", work)) // in an open slot
	}
	if st := rt.Loop().Stats(); st.Account.Running > 100*time.Millisecond {
		t.Errorf("the loop's tasks ran for %v", st.Account.Running)
	}
}

// Tasks of a loop with one slot that is never lent are atomic towards each other between their
// Blocks, whichever task rests, waits or takes a slot.
func TestRestsAreAtomic(t *testing.T) {
	rt := start(t, Config{})
	l, err := rt.NewLoop(LoopConfig{Name: "one", Slots: 1, Exclusive: true})
	must(t, err)
	var all sync.WaitGroup
	var inside atomic.Int32
	sum := 0 // not atomic: the race detector checks it
	const tasks, rounds = 8, 300
	for i := range tasks {
		all.Go(func() {
			for range rounds {
				must(t, l.Run(background, "task", func(ctx context.Context) error {
					for range 3 {
						if inside.Add(1) != 1 {
							t.Error("two are inside at once")
						}
						sum++
						inside.Add(-1)
						Block(ctx, func() error {
							if i%2 == 0 {
								time.Sleep(time.Microsecond)
							}
							return nil
						})
					}
					return nil
				}))
			}
		})
		if i == 0 {
			all.Go(func() {
				for range rounds {
					l.Stats()
					rt.Loop().Stats()
					l.Hold()
					l.Release()
				}
			})
		}
	}
	all.Wait()
	if sum != tasks*rounds*3 {
		t.Errorf("the sum is %d", sum)
	}
	if st := l.Stats(); st.Busy != 0 || st.Queued != 0 {
		t.Errorf("busy are %d, queued %d; want none", st.Busy, st.Queued)
	}
}

// Cancel reaches a resting task: its context ends at once, as it does for a task that has given up
// its slot.
func TestCancelOfRest(t *testing.T) {
	rt := start(t, Config{})
	blocked := make(chan bool)
	h := rt.Go(background, "rests", func(ctx context.Context) error {
		return Block(ctx, func() error {
			blocked <- true
			<-ctx.Done()
			return context.Cause(ctx)
		})
	})
	receive(t, "the task", blocked)
	h.Cancel()
	preemption(t, h.Wait(background))
}

// TestLockIsNotRunning: the wait for the loop's lock at the beginning of a Block does not count as
// running, whether or not another goroutine takes the slot meanwhile.
func TestLockIsNotRunning(t *testing.T) {
	goroutine.Learn()
	if !goroutine.CanTell() {
		t.Skip("the status of goroutines is not to be had here")
	}
	const wait = 50 * time.Millisecond
	var over atomic.Bool
	defer over.Store(true)
	go func() { // else the process's processor time shows that the task has not run
		for !over.Load() {
		}
	}()
	for _, take := range []bool{false, true} {
		rt := start(t, Config{Slots: 1, StallAfter: -1})
		l := rt.Loop()
		began, end := make(chan uintptr), make(chan struct{})
		var blocks atomic.Bool
		h := rt.Go(background, "job", func(ctx context.Context) error {
			began <- goroutine.ID()
			for !blocks.Load() { // it must not wait, or its slot would be lent
			}
			return Block(ctx, func() error { <-end; return nil })
		})
		g := <-began
		other := rt.Go(background, "other", nothing)
		eventually(t, "a task in the queue", func() bool { return l.Stats().Queued == 1 })
		before := h.Account().Running
		l.lock()
		blocks.Store(true)
		eventually(t, "the wait for the lock", func() bool { return goroutine.StatusOf(g) == goroutine.Waiting })
		time.Sleep(wait)
		if take {
			now := notify.Now()
			l.takeRests(1, true, now)
			l.deliver(now)
		}
		l.unlock()
		must(t, other.Wait(background))
		if ran := h.Account().Running - before; ran > wait/2 {
			t.Errorf("running for %v of the %v for which it has waited for the lock; taken: %t", ran, wait, take)
		}
		close(end)
		must(t, h.Wait(background))
	}
}
