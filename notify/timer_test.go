package notify

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen: long enough for a busy machine.
const patience = 20 * time.Second

// eachSleeper runs the test with the system's sleeper, and with the one for systems without a
// futex.
func eachSleeper(t *testing.T, test func(t *testing.T, thread func() sleeper)) {
	t.Run("system", func(t *testing.T) { test(t, newSleeper) })
	t.Run("go", func(t *testing.T) { test(t, newGoSleeper) })
	t.Run("relaxed", func(t *testing.T) { test(t, func() sleeper { return relaxedSleeper{newSleeper()} }) })
	t.Run("restless", func(t *testing.T) { test(t, func() sleeper { return restlessSleeper{newSleeper()} }) })
}

// relaxedSleeper and restlessSleeper make makeTimer relax the timer, and change its mode all the
// time.
type (
	relaxedSleeper  struct{ sleeper }
	restlessSleeper struct{ sleeper }
)

// makeTimer returns a timer that sleeps in the given way, and is closed at the test's end.
func makeTimer(t testing.TB, handle func(now int64) int64, thread sleeper) *Timer {
	timer := newTimer(handle, thread)
	switch thread.(type) {
	case relaxedSleeper:
		timer.Relax(true)
	case restlessSleeper:
		var over atomic.Bool
		var restless sync.WaitGroup
		restless.Go(func() {
			for i := 0; !over.Load(); i++ {
				timer.Relax(i%2 == 0)
				runtime.Gosched()
			}
		})
		t.Cleanup(restless.Wait)
		t.Cleanup(func() { over.Store(true) })
	}
	t.Cleanup(timer.Close)
	return timer
}

// reporting returns a timer that reports each run on a channel, and is closed at the test's end.
func reporting(t testing.TB, thread sleeper, next func(now int64) int64) (*Timer, <-chan int64) {
	runs := make(chan int64, 1024)
	timer := makeTimer(t, func(now int64) int64 {
		select {
		case runs <- now:
		default: // the test no longer reads
		}
		return next(now)
	}, thread)
	return timer, runs
}

func once(int64) int64 { return Never }

func await(t testing.TB, runs <-chan int64, what string) int64 {
	t.Helper()
	select {
	case now := <-runs:
		return now
	case <-time.After(patience):
		t.Fatalf("%s: the handler did not run within %v", what, patience)
		return 0
	}
}

func TestWakeAtRunsTheHandlerAtItsTimeAndNotBefore(t *testing.T) {
	eachSleeper(t, testWakeAtRunsTheHandlerAtItsTimeAndNotBefore)
}

func testWakeAtRunsTheHandlerAtItsTimeAndNotBefore(t *testing.T, thread func() sleeper) {
	timer, runs := reporting(t, thread(), once)
	for _, in := range []time.Duration{0, -time.Second, time.Microsecond, 100 * time.Microsecond, 3 * time.Millisecond, 40 * time.Millisecond} {
		at := Now() + int64(in)
		timer.WakeAt(at)
		if ran := await(t, runs, in.String()); ran < at {
			t.Errorf("in %v: the handler ran %v early", in, time.Duration(at-ran))
		}
	}
	for name, at := range map[string]int64{"least": math.MinInt64, "zero": 0, "negative": -1} {
		timer.WakeAt(at)
		await(t, runs, name)
	}
}

func TestEarlierWishShortensTheSleep(t *testing.T) { eachSleeper(t, testEarlierWishShortensTheSleep) }

func testEarlierWishShortensTheSleep(t *testing.T, thread func() sleeper) {
	for name, far := range map[string]int64{"two hours": Now() + int64(2*time.Hour), "a year": int64(365 * 24 * time.Hour), "almost never": Never - 1} {
		t.Run(name, func(t *testing.T) {
			timer, runs := reporting(t, thread(), once)
			timer.WakeAt(far)
			awaitAsleep(t, timer)
			timer.WakeAt(far + 1) // later: changes nothing
			at := Now() + int64(time.Millisecond)
			timer.WakeAt(at)
			if ran := await(t, runs, "the earlier wish"); ran < at {
				t.Fatalf("ran %v early", time.Duration(at-ran))
			}
		})
	}
}

// awaitAsleep returns when the thread has announced its sleep.
func awaitAsleep(t testing.TB, timer *Timer) {
	t.Helper()
	for start := Now(); timer.state.Load() != asleep && timer.state.Load() != waiting; runtime.Gosched() {
		if Now()-start > int64(patience) {
			t.Fatal("the timer's thread does not go to sleep")
		}
	}
}

func TestNextIsTheHandlersWish(t *testing.T) { eachSleeper(t, testNextIsTheHandlersWish) }

func testNextIsTheHandlersWish(t *testing.T, thread func() sleeper) {
	const ticks, every = 20, int64(200 * time.Microsecond)
	left := ticks
	var first int64
	timer, runs := reporting(t, thread(), func(now int64) int64 {
		if left == ticks {
			first = now
		}
		if left--; left == 0 {
			return Never
		}
		return first + int64(ticks-left)*every
	})
	timer.WakeAt(Now())
	start := await(t, runs, "first tick")
	for i := int64(1); i < ticks; i++ {
		if ran := await(t, runs, "tick"); ran < start+i*every {
			t.Fatalf("tick %d ran %v early", i, time.Duration(start+i*every-ran))
		}
	}
	awaitAsleep(t, timer)
	if len(runs) > 0 {
		t.Fatal("the handler ran after it had returned Never")
	}
	timer.WakeAt(0)
	await(t, runs, "woken after Never")
}

func TestHandlerMayReturnAnyTime(t *testing.T) { eachSleeper(t, testHandlerMayReturnAnyTime) }

func testHandlerMayReturnAnyTime(t *testing.T, thread func() sleeper) {
	for name, next := range map[string]int64{"the past": 1, "zero": 0, "least": math.MinInt64} {
		t.Run(name, func(t *testing.T) {
			left := 100
			timer, runs := reporting(t, thread(), func(int64) int64 {
				if left--; left == 0 {
					return Never
				}
				return next
			})
			timer.WakeAt(0)
			for range 100 {
				await(t, runs, "run")
			}
		})
	}
}

func TestNilHandlerIsRefused(t *testing.T) {
	defer func() {
		if v, _ := recover().(string); !strings.Contains(v, "nil handler") {
			t.Fatalf("panicked with %q", v)
		}
	}()
	NewTimer(nil)
}

func TestTickAllocatesNothing(t *testing.T) { eachSleeper(t, testTickAllocatesNothing) }

func testTickAllocatesNothing(t *testing.T, thread func() sleeper) {
	way := thread()
	if _, restless := way.(restlessSleeper); restless {
		t.Skip("each change of the way starts a goroutine")
	}
	timer, runs := reporting(t, way, once)
	timer.WakeAt(0)
	await(t, runs, "first")
	if n := testing.AllocsPerRun(200, func() {
		timer.WakeAt(Now() + 1000)
		<-runs
	}); n != 0 {
		t.Fatalf("%v allocations a tick", n)
	}
}

func TestCloseFromTheHandlerIsRefused(t *testing.T) { eachSleeper(t, testCloseFromTheHandlerIsRefused) }

func testCloseFromTheHandlerIsRefused(t *testing.T, thread func() sleeper) {
	saw := make(chan any, 1)
	var timer *Timer
	timer = makeTimer(t, func(int64) (next int64) {
		next = Never
		defer func() { saw <- recover() }()
		timer.Close()
		return
	}, thread())
	timer.WakeAt(0)
	select {
	case v := <-saw:
		if s, _ := v.(string); !strings.Contains(s, "from the timer's own handler") {
			t.Fatalf("Close panicked with %v", v)
		}
	case <-time.After(patience):
		t.Fatal("Close waits for its own caller")
	}
}

func ExampleTimer() {
	done := make(chan struct{})
	ticks := 0
	timer := NewTimer(func(now int64) int64 {
		if ticks++; ticks == 3 {
			close(done)
			return Never
		}
		return now + int64(time.Millisecond)
	})
	defer timer.Close()
	timer.WakeAt(Now())
	<-done
	fmt.Println(ticks, "ticks")
	// Output: 3 ticks
}
