package cocoon

import (
	"context"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/notify"
)

// How the demand for two Ps shows whether short work keeps them busy. Each demand is 10 ms after the
// one before.
func TestSaturation(t *testing.T) {
	always := func(d demand) func(int) demand { return func(int) demand { return d } }
	for name, c := range map[string]struct {
		at   func(i int) demand
		from int // the demand with which it becomes full; 0: never
		to   int // the last with which it is full; 0: to the end
	}{
		"nothing":                {always(demand{}), 0, 0},
		"one long task":          {always(demand{wanting: 1, lasting: 1, long: 1}), 0, 0},
		"as many as Ps":          {always(demand{wanting: 2, lasting: 2, long: 2}), 0, 0},
		"40 long tasks":          {always(demand{wanting: 40, lasting: 40, long: 40}), 0, 0},
		"long, and no tasks":     {always(demand{wanting: 3, lasting: 3, long: 1}), 0, 0},
		"too many that are none": {always(demand{wanting: 20, lasting: 20, long: 1}), 8, 0},
		"short work without end": {always(demand{wanting: 9, lasting: 1, long: 1}), 8, 0},
		"as much as the Ps do":   {always(demand{wanting: 4, lasting: 1, long: 1}), 12, 0},
		"beside long work that takes all Ps": {
			always(demand{wanting: 50, lasting: 3, long: 2}), 0, 0},
		"some short requests": {
			func(i int) demand { return demand{wanting: 1 + 6*int64(i%4/3), lasting: 1, long: 1} }, 0, 0},
		"a burst of 20 ms": {
			func(i int) demand { return demand{wanting: 1 + 99*int64(i%50/48), lasting: 1, long: 1} }, 0, 0},
		"it ends": {
			func(i int) demand { return demand{wanting: max(1, int64(9-i)), lasting: 1, long: 1} }, 8, 107},
		"it becomes a little less": {
			func(i int) demand { return demand{wanting: max(3, int64(9-i)), lasting: 1, long: 1} }, 8, 0},
		"long work takes all Ps later": {
			func(i int) demand { return demand{wanting: 30, lasting: 1, long: 1 + int64(i/200)} }, 8, 207},
	} {
		t.Run(name, func(t *testing.T) {
			var s saturation
			for i := 1; i <= 300; i++ {
				d := c.at(i - 1)
				d.procs = 2
				full := s.add(int64(time.Second)+int64(i)*saturationEvery, d)
				if want := c.from > 0 && i >= c.from && (c.to == 0 || i <= c.to); full != want {
					t.Fatalf("after demand %d: full is %v; want %v (short %.2f, taken %.2f)", i, full, want, s.short, s.taken)
				}
			}
		})
	}
}

// The share of other goroutines goes by the means, and not by the last demand.
func TestOthers(t *testing.T) {
	for name, c := range map[string]struct {
		demands  []demand // taken in turn
		from, to int64
	}{
		"nothing":                       {[]demand{{}}, 0, 0},
		"holders only":                  {[]demand{{wanting: 2, tasks: 2}}, 0, 0},
		"extra tasks that compute":      {[]demand{{wanting: 18, tasks: 18}}, 0, 0},
		"tasks that end meanwhile":      {[]demand{{wanting: 2, tasks: 3}}, 0, 0},
		"connections only":              {[]demand{{wanting: 9}}, 100, 100},
		"holders, and few others":       {[]demand{{wanting: 4, tasks: 2}}, 50, 50},
		"others come and go":            {[]demand{{wanting: 2, tasks: 2}, {wanting: 6, tasks: 2}}, 48, 52},
		"a goroutine that seldom wants": {[]demand{{wanting: 2, tasks: 1}, {wanting: 1, tasks: 1}, {wanting: 1, tasks: 1}}, 15, 25},
	} {
		t.Run(name, func(t *testing.T) {
			var s saturation
			for i := range 300 {
				d := c.demands[i%len(c.demands)]
				d.procs = 2
				s.add(int64(time.Second)+int64(i)*saturationEvery, d)
			}
			if got := s.others(); got < c.from || got > c.to {
				t.Errorf("%d %%; want %d to %d", got, c.from, c.to)
			}
		})
	}
}

// While short work of other goroutines keeps the Ps busy, a long task makes no runtime hot, and a
// hot one becomes cold. Afterwards it becomes hot again.
func TestSaturatedRuntimeIsCold(t *testing.T) {
	withProcs(t, 2)
	rt := start(t, Config{Slots: 2})
	if _, known := new(goroutineCounts).wanting(); !known {
		t.Skip("this version of Go does not tell how many goroutines want a P")
	}
	var over, done atomic.Bool
	var all sync.WaitGroup
	defer func() { over.Store(true); done.Store(true); all.Wait() }()
	all.Go(func() {
		must(t, rt.Run(background, "long", func(ctx context.Context) error {
			for !done.Load() {
				SafePoint(ctx)
			}
			return nil
		}))
	})
	eventually(t, "hot", rt.warmth.hot.Load)
	for range 32 {
		all.Go(func() {
			for !over.Load() {
				for end := notify.Now() + int64(300*time.Microsecond); notify.Now() < end; {
				}
				time.Sleep(rand.N(2 * time.Millisecond))
			}
		})
	}
	eventually(t, "cold", func() bool { return !rt.warmth.hot.Load() })
	eventually(t, "GOMAXPROCS as before", func() bool { return runtime.GOMAXPROCS(0) == 2 })
	rt.needHeat(notify.Now())
	rt.temper()
	if rt.warmth.hot.Load() {
		t.Error("a need makes it hot, though the process is saturated")
	}
	over.Store(true)
	if longtest.Off() {
		return // it takes a second
	}
	eventually(t, "hot again", rt.warmth.hot.Load)
}

// A policy with a fine clock makes a runtime hot in a saturated process, too. Otherwise it would be
// many ticks late.
func TestFineClockHeatsASaturatedProcess(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	saturate(rt)
	register(t, rt, Policy{Name: "fine", On: Every(100 * time.Microsecond), Expr: `task.preemptions > 1000000 ? throw("x") : continue()`})
	must(t, rt.Run(background, "long", func(ctx context.Context) error {
		eventually(t, "hot", func() bool { SafePoint(ctx); return rt.warmth.hot.Load() })
		return nil
	}))
}
