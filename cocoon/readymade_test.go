package cocoon

import (
	"context"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
)

// Preemptible and safe tasks take turns, by the quantum and without calls of their own.
func TestRoundRobin(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: -1})
	must(t, rt.RegisterPreemptibleFunc("turn"))
	must(t, rt.RegisterSafeFunc("turn"))
	spec, err := policy.RoundRobin(500 * time.Microsecond)
	must(t, err)
	register(t, rt, spec)
	until := make(chan struct{})
	var handles []*Handle
	for range 3 {
		handles = append(handles, rt.Go(background, "turn", func(ctx context.Context) error { spin(ctx, until); return nil }))
	}
	for _, h := range handles {
		eventually(t, "turns", func() bool { return h.Account().Preemptions > 3 })
	}
	close(until)
	for _, h := range handles {
		must(t, h.Wait(background))
		// A look after the decision may find that the task had no processor in the meantime. That
		// time is no longer running time, but it was part of the turn.
		a := h.Account()
		if turns := a.Running + a.Starved + a.Blocked; turns < 4*500*time.Microsecond {
			t.Errorf("%d turns in %v: they are shorter than the quantum", a.Preemptions, turns)
		}
	}
}

// A waiting safe task preempts a preemptible one, with a time policy within its interval, and with
// an event policy at the event.
func TestDefaultPreemptionByTime(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(Every(time.Millisecond))
	must(t, err)
	running, got := make(chan struct{}), make(chan struct{})
	scan := rt.Go(background, "scan", func(ctx context.Context) error { close(running); spin(ctx, got); return nil })
	receive(t, "the scan", running)
	within(t, "the get", func() { must(t, rt.Run(background, "get", idle)) })
	close(got)
	must(t, scan.Wait(background))
	if n := scan.Account().Preemptions; n != 1 {
		t.Errorf("%d preemptions; want 1", n)
	}
}

// A task is stopped when its caller is gone, although it does not look at its context. Other tasks
// are not.
func TestCallerGone(t *testing.T) {
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	register(t, rt, policy.CallerGone())
	until := make(chan struct{})
	other := rt.Go(background, "job", func(ctx context.Context) error { spin(ctx, until); return nil })
	ctx, cancel := context.WithCancel(background)
	h := rt.Go(ctx, "job", spinForever)
	eventually(t, "it to run", func() bool { return h.Task().Status() == Started })
	cancel()
	if pe := preemption(t, h.Wait(background)); pe.Policy != "caller-gone" || pe.Reason != "the caller is gone" {
		t.Errorf("%+v", pe)
	}
	close(until)
	must(t, other.Wait(background))
}

// The alarm sets its state and calls its function once when the queue is too long or its oldest
// task has waited too long, and resets the state when that has ended.
func TestOverloadAlarm(t *testing.T) {
	for name, alarm := range map[string]policy.OverloadAlarm{
		"length": {Queue: 3},
		"wait":   {Wait: 2 * time.Millisecond},
	} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, StallAfter: -1})
			must(t, rt.RegisterState(map[string]any{"overloaded": false}))
			called := make(chan struct{}, 8)
			must(t, rt.RegisterSafeFunc(Func{Name: "act", Do: func(context.Context) { called <- struct{}{} }}))
			alarm.State, alarm.Func = "overloaded", "act"
			spec, err := alarm.Spec()
			must(t, err)
			r := register(t, rt, spec)
			for round := range 2 {
				release := taken(t, rt.Loop())
				n := r.Stats().Evaluations
				eventually(t, "evaluations", func() bool { return r.Stats().Evaluations > n+2 })
				if rt.StateBool("overloaded") || len(called) > 0 {
					t.Error("an alarm without overload")
				}
				var handles []*Handle
				for range 4 {
					handles = append(handles, rt.Go(background, "job", idle))
				}
				receive(t, "the call", called)
				if !rt.StateBool("overloaded") {
					t.Error("the function is called and the state is not set")
				}
				n = r.Stats().Evaluations
				eventually(t, "evaluations", func() bool { return r.Stats().Evaluations > n+2 })
				release()
				for _, h := range handles {
					must(t, h.Wait(background))
				}
				eventually(t, "the end of the alarm", func() bool { return !rt.StateBool("overloaded") })
				if len(called) > 0 {
					t.Errorf("round %d: called more than once", round)
				}
			}
		})
	}
}
