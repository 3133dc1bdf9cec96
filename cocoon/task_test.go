package cocoon

import (
	"context"
	"errors"
	"testing"
)

// The states of a task, from its arrival to each of its ends.
func TestTaskStates(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	check := func(h *Handle, want Status, text string) {
		t.Helper()
		if s := h.Task().Status(); s != want || s.String() != text {
			t.Errorf("it is %v (%d); want %q", s, s, text)
		}
	}
	wait := func(n int) {
		t.Helper()
		eventually(t, "all to wait", func() bool { return rt.Loop().Stats().Queued == n })
	}
	release := taken(t, rt.Loop())
	stop := make(chan struct{})
	running := make(chan struct{})
	job := rt.Go(background, "job", func(ctx context.Context) error { close(running); spin(ctx, stop); return nil })
	wait(1)
	thrown := rt.Go(background, "thrown", spinForever)
	wait(2)
	never := rt.Go(background, "never", func(context.Context) error { t.Error("it ran"); return nil })
	wait(3)
	for _, h := range []*Handle{job, thrown, never} {
		check(h, Starting, "starting")
	}
	never.Cancel()
	if err := never.Wait(background); !errors.Is(err, ErrCancelled) {
		t.Error(err)
	}
	check(never, CancelledBeforeStart, "cancelled before it started")
	release()
	receive(t, "the job", running)
	check(job, Started, "started")
	check(thrown, Starting, "starting")
	close(stop)
	must(t, job.Wait(background))
	check(job, Returned, "returned")
	eventually(t, "the other to start", func() bool { return thrown.Task().Status() == Started })
	thrown.Cancel()
	if err := thrown.Wait(background); !errors.Is(err, ErrCancelled) {
		t.Error(err)
	}
	check(thrown, CancelledBeforeReturn, "cancelled before it returned")
}
