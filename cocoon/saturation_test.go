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

// How the goroutines that want a P show whether short work keeps two Ps busy. Each reading is 10 ms
// after the one before.
func TestSaturation(t *testing.T) {
	type reading struct{ n, lasting, long int64 }
	always := func(r reading) func(int) reading { return func(int) reading { return r } }
	for name, c := range map[string]struct {
		at       func(i int) reading
		from, to int // the readings after which it is full; to 0: to the end, from -1: never
	}{
		"nothing":                  {always(reading{}), -1, 0},
		"one long task":            {always(reading{1, 1, 1}), -1, 0},
		"as many as Ps":            {always(reading{2, 2, 2}), -1, 0},
		"40 long tasks":            {always(reading{40, 40, 40}), -1, 0},
		"some short requests":      {func(i int) reading { return reading{1 + 6*int64(i%4/3), 1, 1} }, -1, 0},
		"long, and no tasks":       {always(reading{3, 3, 1}), -1, 0},
		"too many that are none":   {always(reading{20, 20, 1}), 4, 0},
		"a burst of 20 ms":         {func(i int) reading { return reading{1 + 99*int64(i%50/48), 1, 1} }, -1, 0},
		"short work without end":   {always(reading{9, 1, 1}), 4, 0},
		"as much as the Ps do":     {always(reading{4, 1, 1}), 12, 0},
		"it ends":                  {func(i int) reading { return reading{max(1, int64(9-i)), 1, 1} }, 4, 102},
		"it becomes a little less": {func(i int) reading { return reading{max(3, int64(9-i)), 1, 1} }, 4, 0},
	} {
		t.Run(name, func(t *testing.T) {
			var s saturation
			for i := range 300 {
				r := c.at(i)
				full := s.add(int64(time.Second)+int64(i)*saturationEvery, r.n, r.lasting, r.long, 2)
				if want := c.from >= 0 && i >= c.from-1 && (c.to == 0 || i <= c.to); full != want {
					t.Fatalf("after reading %d: full is %v; want %v (mean %.2f)", i+1, full, want, s.mean)
				}
			}
		})
	}
}

// While short work of other goroutines keeps the Ps busy, a long task makes no runtime hot, and a
// hot one becomes cold. Afterwards it becomes hot again.
func TestSaturatedRuntimeIsCold(t *testing.T) {
	withProcs(t, 2)
	rt := start(t, Config{Slots: 1})
	if rt.cpu.wanting() == 0 {
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
