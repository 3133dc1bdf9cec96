package ir

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

func rateOf(of stubs.Type, window, begin time.Duration, first uint64) *Trend {
	t := NewTrend(Read{Stub: stubs.StateRate, Window: window}, of, int64(begin), first)
	return &t
}

func averageOf(of stubs.Type, window time.Duration) *Trend {
	t := NewTrend(Read{Stub: stubs.StateAverage, Window: window}, of, 0, 0)
	return &t
}

func (t *Trend) read(now time.Duration, word uint64) float64 {
	return math.Float64frombits(t.Value(int64(now), word))
}

// TestRate compares with what the definition says: the growth since a moment that lies a window
// ago, or up to a 64th of it more.
func TestRate(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const window = 10 * time.Second
	type write struct {
		at time.Duration
		n  int64
	}
	begin := 100 * time.Second
	now, n, all := begin, int64(1000), []write{{begin, 1000}}
	r := rateOf(stubs.Int, window, begin, uint64(n))
	for range 20_000 {
		now += time.Duration(random.ExpFloat64() * float64(20*time.Millisecond))
		if random.IntN(500) == 0 {
			now += time.Duration(random.IntN(30)) * time.Second
		}
		was := n
		n += random.Int64N(7) - 2
		r.Wrote(int64(now), uint64(was), uint64(n))
		all = append(all, write{now, n})
		got := r.read(now, uint64(n))
		if now.Truncate(window/steps)-window <= begin {
			over := max(now-begin, window/steps).Seconds()
			if want := float64(n-1000) / over; math.Abs(got-want) > 1e-9 {
				t.Fatalf("at %v: %v, want %v", now, got, want)
			}
			continue
		}
		ok := false
		for i := len(all) - 1; i > 0 && !ok; i-- { // growth since some moment of that step
			from, to := max(all[i-1].at, now-window-window/steps), min(all[i].at, now-window)
			if from <= to {
				growth := float64(n - all[i-1].n)
				low, high := growth/(now-from).Seconds(), growth/(now-to).Seconds()
				ok = min(low, high)-1e-9 <= got && got <= max(low, high)+1e-9
			}
		}
		ok = ok || now-all[len(all)-2].at > window && got == float64(n-was)/(now-now.Truncate(window/steps)+window).Seconds()
		if !ok {
			t.Fatalf("at %v the rate is %v", now, got)
		}
	}
}

func TestRateOfTypesAndExtremes(t *testing.T) {
	const window = 64 * time.Second
	for _, c := range []struct {
		of        stubs.Type
		from, to  any
		perSecond float64
	}{
		{stubs.Int, 0, 640, 10}, {stubs.Int, 640, 0, -10},
		{stubs.Int, int64(1)<<62 - 640, int64(1) << 62, 10}, // what a float would round away
		{stubs.Int, int64(math.MinInt64), int64(math.MaxInt64), 1 << 64 / 64.0},
		{stubs.Int, int64(math.MaxInt64), int64(math.MinInt64), -(1 << 64) / 64.0},
		{stubs.Float, 0.5, 64.5, 1},
		{stubs.Duration, time.Second, 33 * time.Second, 0.5}, // seconds per second
		{stubs.Duration, time.Duration(math.MinInt64), time.Duration(math.MaxInt64), 1 << 64 / 1e9 / 64},
	} {
		from, _, _ := stubs.Word(c.from)
		to, _, _ := stubs.Word(c.to)
		r := rateOf(c.of, window, 0, from)
		r.Wrote(int64(time.Second), from, to)
		got := r.read(window, to)
		if got != c.perSecond {
			t.Errorf("%v from %v to %v: %v per second, want %v", c.of, c.from, c.to, got, c.perSecond)
		}
		if got := r.read(3*window, to); got != 0 {
			t.Errorf("%v, when it has stayed for long: %v per second", c.of, got)
		}
	}
}

// A rate begins when its policies come into force, and not with the first change of the state: one
// failure after an hour is one in the window.
func TestRateBegins(t *testing.T) {
	const window = time.Minute
	r := rateOf(stubs.Int, window, time.Hour, 7)
	r.Wrote(int64(2*time.Hour), 7, 8)
	if got := r.read(2*time.Hour, 8) * window.Seconds(); math.Abs(got-1) > 1.0/steps {
		t.Errorf("%v in the window after one change", got)
	}
	r.Restart(int64(2*time.Hour), 5)
	r.Wrote(int64(2*time.Hour+window/2), 5, 6)
	if got := r.read(2*time.Hour+window/2, 6) * window.Seconds(); got != 2 {
		t.Errorf("%v in the window, of which half has passed", got)
	}
	if got := r.read(2*time.Hour+3*window, 6); got != 0 {
		t.Errorf("%v after the window", got)
	}
}

// A clock that goes back stands still, and one that leaps forward leaves nothing of the past.
func TestTrendClocks(t *testing.T) {
	r := rateOf(stubs.Int, time.Minute, time.Hour, 0)
	r.Wrote(int64(time.Hour+time.Second), 0, 60)
	r.Wrote(int64(time.Minute), 60, 90)
	r.Wrote(math.MinInt64, 90, 120)
	if got := r.read(-time.Hour, 120); got != 120 {
		t.Errorf("after a leap back: %v per second", got)
	}
	if got := r.read(time.Hour+time.Minute, 120); got != 2 {
		t.Errorf("a minute later: %v per second", got)
	}
	if got := r.read(math.MaxInt64, 120); got != 0 {
		t.Errorf("after a leap forward: %v per second", got)
	}
	a := averageOf(stubs.Int, time.Minute)
	for _, now := range []int64{int64(time.Hour), 0, math.MinInt64, math.MaxInt64, 5} {
		a.Wrote(now, 0, 7)
		if got := math.Float64frombits(a.Value(now, 7)); got != 7 {
			t.Errorf("at %d the average is %v", now, got)
		}
	}
}

// A value counts e times less when a window has passed since; of those at one time each counts as
// much.
func TestAverage(t *testing.T) {
	const window = 10 * time.Second
	a := averageOf(stubs.Float, window)
	word := math.Float64bits
	if got := a.read(0, word(3)); got != 3 {
		t.Errorf("of a state that was never written: %v", got)
	}
	for _, x := range []float64{1, 2, 3, 6} {
		a.Wrote(5, word(0), word(x))
	}
	if got := a.read(5, word(6)); got != 3 {
		t.Errorf("of four values at once: %v", got)
	}
	a.Wrote(5+int64(window), word(6), word(10))
	old := 4 / math.E
	if got, want := a.read(window, word(10)), (3*old+10)/(old+1); math.Abs(got-want) > 1e-12 {
		t.Errorf("a window later: %v, want %v", got, want)
	}
	for _, x := range []float64{math.Inf(1), math.NaN(), math.Inf(-1)} {
		was := a.read(window, word(0))
		if a.Wrote(5+int64(window), word(0), word(x)); a.read(window, word(x)) != was {
			t.Errorf("%v counts", x)
		}
	}
	for range 10_000 {
		a.Wrote(5+int64(window), word(0), word(math.MaxFloat64))
		a.Wrote(5+int64(window), word(0), word(-math.MaxFloat64))
	}
	if got := a.read(window, 0); math.IsNaN(got) || math.IsInf(got, 0) {
		t.Errorf("of extremes: %v", got)
	}
	a.Restart(int64(window), word(4))
	if got := a.read(window, word(4)); got != 4 {
		t.Errorf("begun anew: %v", got)
	}
}

func TestAverageOfDurations(t *testing.T) {
	a := averageOf(stubs.Duration, 10*time.Second)
	if got := int64(a.Value(0, 1<<62+1)); got != 1<<62+1 {
		t.Errorf("never written: %d", got)
	}
	a.Wrote(0, 0, uint64(3*time.Second))
	a.Wrote(0, 0, uint64(4*time.Second))
	if got := time.Duration(a.Value(0, 0)); got != 3500*time.Millisecond {
		t.Errorf("%v", got)
	}
	least := int64(math.MinInt64)
	for want, word := range map[int64]uint64{math.MaxInt64: math.MaxInt64, least: uint64(least)} {
		a.Restart(0, word)
		if a.Wrote(0, 0, word); int64(a.Value(0, 0)) != want {
			t.Errorf("of %d: %d", want, int64(a.Value(0, 0)))
		}
	}
	i := averageOf(stubs.Int, 10*time.Second)
	if got := i.read(0, 5); got != 5 {
		t.Errorf("of an int: %v", got)
	}
}
