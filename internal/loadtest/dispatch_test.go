package loadtest

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"
)

func TestPoisson(t *testing.T) {
	draw := func(seed, stream uint64, rate float64) (moments []time.Duration) {
		Poisson(seed, stream, rate, 20*time.Second, func(at time.Duration, _ *rand.Rand) { moments = append(moments, at) })
		return moments
	}
	all := draw(1, 0, 400)
	if !slices.IsSorted(all) || all[0] < 0 || all[len(all)-1] >= 20*time.Second {
		t.Error("the moments are out of order, or of bounds")
	}
	// 8000 ± 90; a deviation of five standard deviations never occurs with a fixed seed that has
	// passed.
	if n := float64(len(all)); math.Abs(n-8000) > 450 {
		t.Errorf("%g moments in 20 s at 400 a second", n)
	}
	if !slices.Equal(all, draw(1, 0, 400)) || slices.Equal(all, draw(1, 1, 400)) || slices.Equal(all, draw(2, 0, 400)) {
		t.Error("moments are not those of their seed and stream")
	}
	if len(draw(1, 0, 0)) > 0 {
		t.Error("a rate of 0 has moments")
	}
}

// TestDispatch checks that a send that does not return does not hold up other sends, and that no
// send is early.
func TestDispatch(t *testing.T) {
	const n = 20
	var sent atomic.Int64
	last := make(chan struct{})
	start := time.Now()
	at := func(i int) time.Duration { return time.Duration(i) * time.Millisecond }
	Dispatch(start, n, at, func(i int) {
		if early := at(i) - time.Since(start); early > 0 {
			t.Errorf("request %d was sent %v early", i, early)
		}
		if sent.Add(1) == n {
			close(last)
		}
		<-last
	})
	if sent.Load() != n {
		t.Errorf("%d requests were sent; want %d", sent.Load(), n)
	}
}

func TestConsole(t *testing.T) {
	for live, want := range map[bool]string{
		false: "phase\nsaid\n",
		true:  "one\r   \rtwo\r   \rsaid\none\r   \r",
	} {
		var w bytes.Buffer
		c := NewConsole(&w)
		c.live = live
		c.Progress("phase", "one")
		c.Progress("phase", "two")
		c.Status("said")
		c.Progress("phase", "one")
		c.Clear()
		if got := w.String(); got != want {
			t.Errorf("live %t: %q; want %q", live, got, want)
		}
	}
}
