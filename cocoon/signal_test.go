package cocoon

import (
	"context"
	"runtime"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// The signals of overload rise with it, and fall when it has ended.
func TestSignalsOfOverload(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterState(map[string]any{"length": 0, "oldest": time.Duration(0), "utilization": 0.0, "heap": 0.0}))
	register(t, rt, Policy{Name: "look", On: OnNotify("look"), Expr: `
		set("length", queue.length); set("oldest", queue.oldest);
		set("utilization", loop.utilization); set("heap", runtime.heap / bytes("1MiB"))`})
	look := func(name string) any {
		rt.Notify("look", 0)
		return rt.State(name)
	}
	becomes := func(name string, ok func(v any) bool) {
		t.Helper()
		eventually(t, name, func() bool { return ok(look(name)) })
	}
	// It approaches 0 and 1 within tenths of a second.
	bound := float64(longtest.Count(10, 30)) / 100
	low := func(v any) bool { return v.(float64) < bound }
	high := func(v any) bool { return v.(float64) > 1-bound }

	for range 2 {
		becomes("utilization", low)
		if length, oldest := look("length"), look("oldest"); length != int64(0) || oldest != time.Duration(0) {
			t.Errorf("with nobody waiting the queue has %v tasks, the oldest for %v", length, oldest)
		}
		release := taken(t, rt.Loop())
		var waiting []*Handle
		for i := range 3 {
			waiting = append(waiting, rt.Go(background, "job", idle))
			becomes("length", is(int64(i+1)))
		}
		becomes("oldest", func(v any) bool { return v.(time.Duration) > 5*time.Millisecond })
		becomes("utilization", high)
		release()
		for _, h := range waiting {
			must(t, h.Wait(background))
		}
	}

	mib := longtest.Count(256, 64) // clearing it takes most of the test's processor time
	runtime.GC()                   // otherwise a collection could take off as much as the ballast adds
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	before := float64(m.HeapAlloc) / (1 << 20)
	ballast := make([]byte, mib<<20)
	becomes("heap", func(v any) bool { return v.(float64) > before+0.8*float64(mib) })
	runtime.KeepAlive(ballast)
	runtime.GC()
	becomes("heap", func(v any) bool { return v.(float64) < before+0.4*float64(mib) })
}

// The scheduling latency is the latency of the last tick: first of a late one, then of a punctual
// one.
func TestSchedulingLatency(t *testing.T) {
	const late = 20 * time.Millisecond
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterState(map[string]any{"least": time.Hour, "most": time.Duration(0)}))
	register(t, rt, Policy{Name: "forget", On: OnNotify("forget"), Expr: `set("least", duration("1h"))`})
	tick := register(t, rt, Policy{Name: "look", On: Every(time.Millisecond), Expr: `
		set("least", min(state.least, runtime.sched_latency)); set("most", max(state.most, runtime.sched_latency))`})
	must(t, rt.Run(background, "job", func(context.Context) error {
		ticks := func() {
			n := tick.Stats().Evaluations
			eventually(t, "ticks", func() bool { return tick.Stats().Evaluations > n+2 })
		}
		ticks()
		rt.Loop().lock() // this delays the timer
		time.Sleep(late)
		rt.Loop().unlock()
		ticks()
		rt.Notify("forget", 0)
		eventually(t, "a tick in time", func() bool { return rt.State("least").(time.Duration) < late/4 })
		if most := rt.State("most").(time.Duration); most < late/2 {
			t.Errorf("a tick came %v late, and policies saw %v at most", late, most)
		}
		return nil
	}))
}
