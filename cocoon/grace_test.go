package cocoon

import (
	"context"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/safepoint"
)

// When a throw ends the context, by how the task stands at the throw and later.
func TestEndTime(t *testing.T) {
	const ms = int64(time.Millisecond)
	type look struct {
		at     int64
		stands standing
		ends   bool
	}
	for name, c := range map[string]struct {
		stands        standing
		since, thrown int64
		looks         []look
	}{
		"a call just begun":           {calls, 100 * ms, 100 * ms, []look{{105*ms - 1, calls, false}, {105 * ms, calls, true}}},
		"a call begun a while ago":    {calls, 97 * ms, 100 * ms, []look{{102*ms - 1, calls, false}, {102 * ms, calls, true}}},
		"a long call":                 {calls, 5 * ms, 100 * ms, []look{{100 * ms, calls, true}}},
		"a call that seems to be new": {calls, 101 * ms, 100 * ms, []look{{105*ms - 1, calls, false}, {105 * ms, calls, true}}},
		"it runs":                     {runs, 5 * ms, 100 * ms, []look{{105*ms - 1, runs, false}, {105 * ms, runs, true}}},
		"it runs, then calls":         {runs, 5 * ms, 100 * ms, []look{{105 * ms, calls, true}}},
		"a call, then it waits for a slot": {calls, 100 * ms, 100 * ms, []look{
			{105 * ms, awaitsUs, false}, {109 * ms, calls, false}, {110 * ms, runs, true},
		}},
		"it waits for a P all the time": {awaitsUs, 5 * ms, 100 * ms, []look{
			{105 * ms, awaitsUs, false}, {190 * ms, awaitsUs, false}, {195 * ms, awaitsUs, false}, {200*ms - 1, awaitsUs, false}, {200 * ms, awaitsUs, true},
		}},
		"the timer is late": {runs, 5 * ms, 100 * ms, []look{{300 * ms, awaitsUs, true}}},
	} {
		e := newEndTime(c.stands, c.since, c.thrown)
		for i, l := range c.looks {
			if got := e.due(l.stands, l.at); got != l.ends {
				t.Errorf("%s: look %d at %v: ends %t; want %t", name, i, time.Duration(l.at), got, l.ends)
			}
		}
	}
}

// throwInto posts a throw into the task, as a policy does that has looked at all tasks.
func throwInto(ctx context.Context) {
	s := TaskOf(ctx).strand
	s.loop.lockAll()
	defer s.loop.unlock()
	now := notify.Now()
	s.postThrow(s.preempted("", "test", "", nil, now), 0, now)
}

// hasTime reports whether the pending throw has not ended the context yet. It is false for certain
// only if the grace is over.
func (s *strand) hasTime(t *testing.T) (has, over bool) {
	t.Helper()
	s.loop.lock()
	defer s.loop.unlock()
	if s.pending == nil {
		t.Error("there is no throw")
		return true, false
	}
	over = notify.Now() >= s.pending.endsAt.at
	return !s.pending.endedEarly, over
}

// A throw does not end the context of a task in a call that has just begun, whatever kind of call
// it is. So the call succeeds, and the throw that comes at the next safe point finds the context as
// clean-up needs it.
func TestThrowLeavesAShortCallItsContext(t *testing.T) {
	goroutine.Learn()
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	for name, in := range map[string]func(ctx context.Context, fn func() error) error{
		"Block":       Block,
		"BlockCall":   BlockCall,
		"callAnyway":  callAnyway,
		"callOrThrow": callOrThrow,
		"unannounced": func(ctx context.Context, fn func() error) error { return fn() },
		"another task gets the slot": func(ctx context.Context, fn func() error) error {
			return BlockCall(ctx, func() error {
				must(t, rt.Go(background, "other", idle).Wait(background))
				return fn()
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			for tries := 0; ; tries++ {
				ended, late := false, false
				preemption(t, rt.Run(background, "caller", func(ctx context.Context) error {
					defer func() { ended = ctx.Err() != nil }()
					must(t, in(ctx, func() error {
						throwInto(ctx)
						has, over := TaskOf(ctx).strand.hasTime(t)
						if late = over; !has && !over {
							t.Error("the throw has ended the context at once")
						}
						return nil
					}))
					_, over := TaskOf(ctx).strand.hasTime(t)
					late = late || over
					return spinForever(ctx)
				}))
				if !ended || t.Failed() {
					break
				}
				if !late || tries > 100 {
					t.Fatal("the context had ended when the throw unwound the task")
				}
			}
		})
	}
}

// A throw into a task in a long call ends the context at once.
func TestThrowEndsALongCall(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	preemption(t, rt.Run(background, "caller", func(ctx context.Context) error {
		return BlockCall(ctx, func() error {
			s := TaskOf(ctx).strand
			s.loop.lockAll() // takes its slot
			s.loop.unlock()
			for begin := notify.Now(); notify.Now()-begin < callGrace; {
			}
			throwInto(ctx)
			if has, _ := s.hasTime(t); has {
				t.Error("the context goes on")
			}
			<-ctx.Done()
			return context.Cause(ctx)
		})
	}))
}

// A throw into a task that then loses its slot because it waits unannounced is found by its next
// poll, although such a poll knows the task only while the word is raised.
func TestPollAfterAWaitFindsTheThrow(t *testing.T) {
	goroutine.Learn()
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	for tries := 0; ; tries++ {
		began, goOn := make(chan struct{}), make(chan struct{})
		found, late := false, false
		h := rt.Go(background, "waits", func(ctx context.Context) error {
			throwInto(ctx)
			close(began)
			<-goOn
			found = safepoint.Raised()
			_, late = TaskOf(ctx).strand.hasTime(t)
			return spinForever(ctx)
		})
		<-began
		must(t, rt.Run(background, "other", idle)) // takes the slot of the task that waits
		close(goOn)
		preemption(t, h.Wait(background))
		if found {
			break
		}
		if !late || tries > 100 {
			t.Fatal("the word is not raised")
		}
	}
}
