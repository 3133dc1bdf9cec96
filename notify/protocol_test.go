package notify

import (
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestWishDuringTheHandler checks that a request made while the handler runs causes another run.
func TestWishDuringTheHandler(t *testing.T) { eachSleeper(t, testWishDuringTheHandler) }

func testWishDuringTheHandler(t *testing.T, thread func() sleeper) {
	entered, leave := make(chan struct{}), make(chan struct{})
	var runs atomic.Int64
	timer := makeTimer(t, func(int64) int64 {
		if runs.Add(1) == 1 {
			close(entered)
			<-leave
		}
		return Never
	}, thread())
	timer.WakeAt(0)
	<-entered
	timer.WakeAt(0)
	close(leave)
	awaitCount(t, &runs, 2)
}

func awaitCount(t testing.TB, n *atomic.Int64, want int64) {
	t.Helper()
	for start := Now(); n.Load() < want; {
		if Now()-start > int64(patience) {
			t.Fatalf("%d runs, want %d", n.Load(), want)
		}
	}
}

// TestHammer makes many goroutines request random times concurrently. Each waits for a run at or
// after its time. A lost request is never served, because a handler that did not see it does not
// request it either.
func TestHammer(t *testing.T) { eachSleeper(t, testHammer) }

func testHammer(t *testing.T, thread func() sleeper) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2))
	const wishers = 16
	wishes := longtest.Count(400, 40)
	type wish struct {
		at   atomic.Int64 // 0: none
		done chan int64
	}
	all := make([]wish, wishers)
	timer := makeTimer(t, func(now int64) int64 {
		for i := range all {
			w := &all[i]
			if at := w.at.Load(); at != 0 && at <= now {
				w.at.Store(0)
				w.done <- now
			}
		}
		next := int64(Never)
		for i := range all {
			if at := all[i].at.Load(); at != 0 {
				next = min(next, at)
			}
		}
		return next
	}, thread())
	defer timer.Close()
	var wg sync.WaitGroup
	for i := range all {
		w := &all[i]
		w.done = make(chan int64, 1)
		random := rand.New(rand.NewPCG(uint64(i), 1))
		wg.Go(func() {
			for n := range wishes {
				at := Now() + random.Int64N(int64(300*time.Microsecond)) - int64(20*time.Microsecond)
				w.at.Store(at)
				timer.WakeAt(at)
				select {
				case ran := <-w.done:
					if ran < at {
						t.Errorf("wisher %d: a run at %d answered a wish for %d", i, ran, at)
					}
				case <-time.After(patience):
					t.Errorf("wisher %d: wish %d was not honoured", i, n)
					return
				}
			}
		})
	}
	wg.Wait()
}

// TestWishAtBedtime makes one request at a time, just as the thread is about to sleep after the
// last one, and just as another goroutine requests a distant time. Only the protocol wakes the
// thread, and a request that was overwritten is not repeated. The handler lingers for a random
// time, so that the next request falls on every step before the thread's sleep.
func TestWishAtBedtime(t *testing.T) { eachSleeper(t, testWishAtBedtime) }

func testWishAtBedtime(t *testing.T, thread func() sleeper) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2))
	var runs, round atomic.Int64
	linger := func(r *rand.Rand, most int) {
		for range r.IntN(most) {
			runs.Load()
		}
	}
	random := rand.New(rand.NewPCG(1, 1))
	timer := makeTimer(t, func(int64) int64 {
		runs.Add(1)
		linger(random, 1000)
		return Never
	}, thread())
	defer timer.Close()
	var others sync.WaitGroup
	defer others.Wait()
	defer round.Store(-1)
	others.Go(func() {
		random := rand.New(rand.NewPCG(2, 2))
		far := Now() + int64(24*time.Hour)
		for seen := int64(0); seen >= 0; {
			now := round.Load()
			if now == seen {
				continue
			}
			seen = now
			far-- // always earlier than the last request, so that want is written
			linger(random, 50)
			timer.WakeAt(far)
		}
	})
	mine := rand.New(rand.NewPCG(3, 3))
	for deadline := Now() + int64(time.Duration(longtest.Count(700, 30))*time.Millisecond); Now() < deadline; {
		before := runs.Load()
		if round.Add(1)%2 == 0 {
			linger(mine, 50)
		}
		timer.WakeAt(0)
		awaitCount(t, &runs, before+1)
	}
}

func TestClose(t *testing.T) { eachSleeper(t, testClose) }

func testClose(t *testing.T, thread func() sleeper) {
	for _, c := range []struct {
		name  string
		setUp func(t *testing.T, timer *Timer, runs <-chan int64)
	}{
		{"never started", func(*testing.T, *Timer, <-chan int64) {}},
		{"asleep for good", func(t *testing.T, timer *Timer, runs <-chan int64) {
			timer.WakeAt(0)
			await(t, runs, "run")
			awaitAsleep(t, timer)
		}},
		{"asleep for an hour", func(t *testing.T, timer *Timer, _ <-chan int64) {
			timer.WakeAt(Now() + int64(time.Hour))
			awaitAsleep(t, timer)
		}},
		{"just woken", func(_ *testing.T, timer *Timer, _ <-chan int64) { timer.WakeAt(0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			timer, runs := reporting(t, thread(), once)
			c.setUp(t, timer, runs)
			var closers sync.WaitGroup
			for range 4 {
				closers.Go(timer.Close)
			}
			closers.Wait()
			for len(runs) > 0 {
				<-runs
			}
			timer.Close()
			timer.WakeAt(0)
			if state := timer.state.Load(); state == asleep || state == waiting || len(runs) > 0 {
				t.Fatalf("after Close: state %d, %d runs", state, len(runs))
			}
		})
	}
}

// TestCloseAgainstWakeAt checks Close, WakeAt and the start of the thread in every order.
func TestCloseAgainstWakeAt(t *testing.T) { eachSleeper(t, testCloseAgainstWakeAt) }

func testCloseAgainstWakeAt(t *testing.T, thread func() sleeper) {
	for range 500 {
		var running atomic.Bool
		timer := makeTimer(t, func(now int64) int64 {
			if !running.CompareAndSwap(false, true) {
				t.Error("two handlers at once")
			}
			running.Store(false)
			return now // at once, repeatedly
		}, thread())
		var wg sync.WaitGroup
		for range 3 {
			wg.Go(func() { timer.WakeAt(Now()) })
		}
		wg.Go(timer.Close)
		wg.Go(timer.Close)
		timer.Close()
		if running.Load() {
			t.Fatal("the handler runs after Close")
		}
		wg.Wait()
	}
}
