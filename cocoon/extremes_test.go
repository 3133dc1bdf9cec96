package cocoon

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// The longest durations mean never, and none of them overflows to a time in the past: a throw into
// a section does not end the task's context, a holder without safe points keeps its slot, a
// suspended task waits.
func TestTheLongestDurationsMeanNever(t *testing.T) {
	for name, long := range map[string]time.Duration{"the longest": math.MaxInt64, "almost": math.MaxInt64 - 1, "half": math.MaxInt64 / 2, "an age": 290 * 365 * 24 * time.Hour} {
		t.Run(name, func(t *testing.T) {
			rt := start(t, Config{Slots: 1, StallAfter: long, Breath: long, MaxBypass: long, Gaps: long})
			if rt.breathes || rt.hasSlices() {
				t.Error("its tasks give their cores away")
			}
			register(t, rt, Policy{Name: "limit", On: Every(time.Millisecond), Expr: `task.section == "part" and task.running > duration("5ms") ? throw("x") : continue()`})
			must(t, rt.Run(background, "job", func(ctx context.Context) error {
				preemption(t, inSection(ctx, "part", func() error {
					s := strandOf(ctx)
					eventually(t, "the throw", func() bool { return s.requests.Load()&wantThrow != 0 })
					time.Sleep(5 * time.Millisecond) // longer than the timer waits before a throw ends the context of a task
					return spinForever(ctx)
				}))
				time.Sleep(time.Millisecond)
				return ctx.Err()
			}))

			done := make(chan struct{})
			holder := begun(t, rt.Loop(), background, "holder", func(context.Context) error { return stall(func() bool { return closed(done) }) })
			waits := rt.Go(background, "waits", idle)
			eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
			for end := time.Now().Add(time.Duration(longtest.Count(60, 20)) * time.Millisecond); time.Now().Before(end); time.Sleep(time.Millisecond) {
				if rt.Loop().Stats().Stalls > 0 {
					t.Fatal("the holder's slot was lent")
				}
			}
			close(done)
			must(t, holder.Wait(background))
			must(t, waits.Wait(background))
			if gaps := rt.Gaps(); len(gaps) > 0 {
				t.Errorf("gaps were measured: %v", gaps)
			}
		})
	}
}

// The shortest durations cost no more than short ones: the timer does not spin, and everything else
// works.
func TestTheShortestDurations(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: 1, Breath: 1, MaxBypass: 1, Gaps: 1})
	must(t, rt.RegisterPreemptibleFunc("scan"))
	must(t, rt.RegisterSafeFunc("get"))
	_, err := rt.RegisterDefaultPreemption(OnEnqueue)
	must(t, err)
	release := make(chan struct{})
	scan := begun(t, rt.Loop(), background, "scan", func(ctx context.Context) error { spin(ctx, release); return nil })
	for range 20 {
		must(t, rt.Run(background, "get", idle))
	}
	close(release)
	must(t, scan.Wait(background))

	done := make(chan struct{})
	holder := begun(t, rt.Loop(), background, "holder", func(context.Context) error { return stall(func() bool { return closed(done) }) })
	must(t, rt.Run(background, "waits", idle)) // the slot is lent
	close(done)
	must(t, holder.Wait(background))
}

// Bounds of the durations of Config.
func TestDurationsAreBrought(t *testing.T) {
	for _, x := range []struct{ given, stall, bypass, breath, gaps time.Duration }{
		{0, defaultStallAfter, defaultMaxBypass, defaultBreath, 0},
		{-1, -1, -1, -1, -1},
		{math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64, math.MinInt64},
		{1, leastStallAfter, 1, 1, leastGaps},
		{time.Second, time.Second, time.Second, time.Second, time.Second},
		{time.Minute, time.Minute, time.Minute, -1, time.Minute},
		{math.MaxInt64, endless, endless, -1, endless},
	} {
		c, err := Config{StallAfter: x.given, MaxBypass: x.given, Breath: x.given, Gaps: x.given}.complete()
		must(t, err)
		if c.StallAfter != x.stall || c.MaxBypass != x.bypass || c.Breath != x.breath || c.Gaps != x.gaps {
			t.Errorf("%v: %v, %v, %v, %v", x.given, c.StallAfter, c.MaxBypass, c.Breath, c.Gaps)
		}
	}
}

// A limit may be as long as the longest duration in policies, or as short as the shortest duration.
// A longer limit is refused, because it can never be exceeded.
func TestExtremeTimeLimits(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	for name, limit := range map[string]time.Duration{"long": greatest - 1, "short": 5 * time.Microsecond} {
		if _, err := rt.RegisterTimeLimit(TimeLimit{Func: name, Limit: limit}); err != nil {
			t.Errorf("a limit of %v: %v", limit, err)
		}
	}
	must(t, rt.Run(background, "long", func(ctx context.Context) error {
		for end := time.Now().Add(30 * time.Millisecond); time.Now().Before(end); {
			SafePoint(ctx)
		}
		return nil
	}))
	preemption(t, rt.Run(background, "short", spinForever))
	for _, limit := range []time.Duration{0, -1, 1, math.MinInt64, math.MaxInt64} {
		if _, err := rt.RegisterTimeLimit(TimeLimit{Func: "none", Limit: limit}); err == nil {
			t.Errorf("a limit of %v was taken", limit)
		}
	}
}
