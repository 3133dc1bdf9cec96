package notify

import (
	"math/rand/v2"
	"runtime"
	"testing"
	"time"
)

// TestRelaxIsHeardAtBedtime checks that the thread sleeps in the way that was set last, even if it
// was set just before the sleep.
func TestRelaxIsHeardAtBedtime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2))
	timer, runs := reporting(t, newSleeper(), once)
	timer.WakeAt(0)
	await(t, runs, "first")
	random := rand.New(rand.NewPCG(1, 1))
	for i := range 4000 {
		want := asleep
		if i%2 == 0 {
			want = waiting
		}
		timer.Relax(want == waiting)
		// Run the handler, so that the thread goes to sleep again while the mode changes.
		if i%3 == 0 {
			timer.WakeAt(0)
			for range random.IntN(2000) {
				timer.want.Load()
			}
			continue
		}
		for start := Now(); timer.state.Load() != want; runtime.Gosched() {
			if Now()-start > int64(patience) {
				t.Fatalf("round %d: the state is %d; want %d", i, timer.state.Load(), want)
			}
		}
	}
}

// TestRelaxStartsNoThread checks that a relaxed timer that was never set starts no thread.
func TestRelaxStartsNoThread(t *testing.T) {
	timer := NewTimer(once)
	defer timer.Close()
	timer.Relax(true)
	timer.Relax(false)
	if s := timer.state.Load(); s != unstarted {
		t.Errorf("the state is %d", s)
	}
}

// TestRelaxedTimerKeepsNoP checks that on one P, a sleeping relaxed timer leaves the P to other
// goroutines: goroutines that send to each other in turn do not have to wait until the Go runtime
// takes the P back from a system call.
func TestRelaxedTimerKeepsNoP(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	timer, runs := reporting(t, relaxedSleeper{newSleeper()}, func(now int64) int64 { return now + int64(time.Millisecond) })
	timer.WakeAt(0)
	for range 50 {
		before := Now()
		ran := await(t, runs, "tick")
		if waited := Now() - max(ran, before); waited > int64(patience)/10 {
			t.Fatalf("the goroutine waited %v after the tick", time.Duration(waited))
		}
		if s := timer.state.Load(); s == asleep {
			t.Fatal("it sleeps in the system call")
		}
	}
}
