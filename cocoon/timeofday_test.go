package cocoon

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	_ "time/tzdata"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// setClock is a clock that a test sets.
type setClock struct{ at atomic.Pointer[time.Time] }

func (c *setClock) set(at time.Time) { c.at.Store(&at) }
func (c *setClock) config(n int) Config {
	return Config{Slots: n, wall: func() time.Time { return *c.at.Load() }}
}

const seeClock = `set("minute", clock.minute); set("hour", clock.hour); set("weekday", clock.weekday)`

// Policies see the time of day in their zone, also where summer time begins or ends and where the
// clock leaps.
func TestTimeOfDay(t *testing.T) {
	var c setClock
	c.set(time.Unix(0, 0))
	rt := start(t, c.config(1))
	must(t, rt.RegisterState(map[string]any{"minute": 0, "hour": 0, "weekday": 0}))
	for _, zone := range []string{"", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe", "Pacific/Apia"} {
		r := register(t, rt, Policy{Name: "see", On: policy.On(stubs.Start), Expr: seeClock, Zone: zone})
		location, err := time.LoadLocation(zone)
		must(t, err)
		for _, at := range []string{
			"2026-03-29T00:59:59Z", "2026-03-29T01:00:00Z", // in Berlin summer time begins: after 1:59 comes 3:00
			"2026-10-25T00:30:00Z", "2026-10-25T01:30:00Z", // it ends: 2:30 comes twice
			"2026-03-08T06:59:59Z", "2026-03-08T07:00:00Z", "2026-10-03T15:29:59Z", "2026-10-03T15:30:00Z",
			"2000-02-29T12:00:00Z", "2038-01-19T03:14:08Z", "1969-12-31T23:59:59Z", "2026-12-31T23:59:59Z", "2011-12-30T12:00:00Z",
		} {
			now, err := time.Parse(time.RFC3339, at)
			must(t, err)
			c.set(now)
			must(t, rt.Run(background, "job", idle))
			want := now.In(location)
			if rt.State("minute") != int64(want.Minute()) || rt.State("hour") != int64(want.Hour()) || rt.State("weekday") != int64(want.Weekday()) {
				t.Errorf("%s in %q: %v:%v on day %v; want %v", at, zone, rt.State("hour"), rt.State("minute"), rt.State("weekday"), want)
			}
		}
		r.Cancel()
	}
	if _, err := rt.RegisterPolicy(Policy{Name: "see", On: policy.On(stubs.Start), Expr: seeClock, Zone: "Mars/Base"}); err == nil || !strings.Contains(err.Error(), `there is no zone "Mars/Base"`) {
		t.Errorf("an unknown zone: %v", err)
	}
}

// A policy about the loop follows the time of day while nothing runs, and no more often than the
// minute changes.
func TestTimeOfDayInQuiet(t *testing.T) {
	t.Parallel() // most of its time is a wait
	var c setClock
	noon := time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)
	c.set(noon)
	rt := start(t, c.config(1))
	must(t, rt.RegisterState(map[string]any{"night": false}))
	r := register(t, rt, Policy{Name: "night", On: policy.Every(time.Millisecond), Expr: `set("night", clock.hour < 6)`})
	eventually(t, "it is evaluated", func() bool { return r.Stats().Evaluations > 0 })
	leaps := []time.Duration{-8 * time.Hour, 30 * time.Second, 8 * time.Hour, -30 * 24 * time.Hour, 16 * time.Hour}
	for i, leap := range longtest.Cases(leaps, 2) {
		noon = noon.Add(leap)
		c.set(noon)
		want := noon.Hour() < 6
		eventually(t, "the time of day is noticed", func() bool { return rt.State("night") == want })
		if n := r.Stats().Evaluations; n > int64(10+5*i) {
			t.Errorf("%d evaluations in quiet", n)
		}
	}
}

// A policy about tasks that reads the time of day has its ticks.
func TestTimeOfDayOfTasks(t *testing.T) {
	var c setClock
	c.set(time.Date(2026, 6, 1, 11, 59, 59, 0, time.UTC))
	rt := start(t, c.config(1))
	register(t, rt, Policy{Name: "noon", On: policy.Every(time.Millisecond), Expr: `clock.hour >= 12 ? throw("noon") : continue()`})
	begin := time.Now()
	err := rt.Run(background, "job", func(ctx context.Context) error {
		for {
			if SafePoint(ctx); time.Since(begin) > 20*time.Millisecond {
				c.set(time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC))
			}
		}
	})
	if preemption(t, err).Reason != "noon" || time.Since(begin) < 20*time.Millisecond {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}
