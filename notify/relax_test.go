package notify

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestRelaxIsHeardAtBedtime checks that the thread sleeps in the way that was set last, even if it
// was set just before the sleep.
func TestRelaxIsHeardAtBedtime(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 2))
	timer, runs := reporting(t, newSleeper(), once)
	timer.WakeAt(0)
	await(t, runs, "first")
	random := rand.New(rand.NewPCG(1, 1))
	for i := range longtest.Count(4000, 1000) {
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

// TestRelaxedTimerHasNoThread checks that the handler of a relaxed timer does not run locked to a
// thread, also after the timer was punctual for a while: such a goroutine costs two switches of
// threads each time it wakes.
func TestRelaxedTimerHasNoThread(t *testing.T) {
	headers := make(chan string, 1)
	timer := makeTimer(t, func(int64) int64 {
		stack := make([]byte, 1<<10)
		header, _, _ := strings.Cut(string(stack[:runtime.Stack(stack, false)]), "\n")
		headers <- header
		return Never
	}, newSleeper())
	for i := range 6 {
		relaxed := i%2 == 0
		timer.Relax(relaxed)
		if i > 0 { // until it sleeps in the new way
			awaitWay(t, timer)
		}
		timer.WakeAt(0)
		header := <-headers
		punctual := !relaxed && runtime.GOOS == "linux"
		if strings.Contains(header, "locked to thread") != punctual {
			t.Errorf("relaxed %v: the handler ran on %q", relaxed, header)
		}
	}
}

// awaitWay returns when the timer sleeps in the way it must.
func awaitWay(t *testing.T, timer *Timer) {
	t.Helper()
	want := timer.way()
	for start := Now(); timer.state.Load() != want; runtime.Gosched() {
		if Now()-start > int64(patience) {
			t.Fatalf("the state is %d; want %d", timer.state.Load(), want)
		}
	}
}

// TestEndingGoroutineIsForgotten checks that a timer forgets its goroutine before the goroutine
// starts its successor and ends. The Go runtime may then give the goroutine's identity to another
// one, and Close in that one must not take it for the handler.
func TestEndingGoroutineIsForgotten(t *testing.T) {
	ends := make(chan uintptr, 4)
	thread := &watchedSleeper{sleeper: newSleeper(), ends: ends}
	timer := makeTimer(t, func(int64) int64 { return Never }, thread)
	thread.timer = timer
	timer.WakeAt(0)
	for range 3 {
		awaitWay(t, timer)
		timer.Relax(true)
		if runner := <-ends; runner != 0 {
			t.Errorf("the timer took %#x for its goroutine, which ends; want none", runner)
		}
		awaitWay(t, timer)
		timer.Relax(false)
	}
}

// watchedSleeper sends which goroutine the timer takes for its own when one of them ends.
type watchedSleeper struct {
	sleeper
	timer *Timer
	ends  chan<- uintptr
}

func (s *watchedSleeper) leave() {
	s.ends <- s.timer.runner.Load()
	s.sleeper.leave()
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

// TestUnsetTimerHasNoThread checks that a punctual timer gives its thread up when it has not been
// set for a while, and has one again when it is set.
func TestUnsetTimerHasNoThread(t *testing.T) {
	t.Parallel() // most of its time is a wait
	timer, runs := reporting(t, newSleeper(), once)
	for range longtest.Count(2, 1) {
		timer.WakeAt(Now() + int64(time.Millisecond))
		await(t, runs, "tick")
		awaitWay(t, timer) // asleep, for another tick
		unset := Now()
		for timer.state.Load() != waiting {
			if time.Sleep(time.Millisecond); Now()-unset > int64(patience) {
				t.Fatalf("the state is %d; want %d", timer.state.Load(), waiting)
			}
		}
		if d := Now() - unset; d < longIdle/2 {
			t.Errorf("the timer gave its thread up after %v; want %v", time.Duration(d), time.Duration(longIdle))
		}
	}
}

// TestDeadlockIsReported checks that a process in which all goroutines wait forever ends, although
// it has a punctual timer.
func TestDeadlockIsReported(t *testing.T) {
	const own = "COCOON_DEADLOCK"
	if os.Getenv(own) != "" {
		timer := NewTimer(once)
		timer.WakeAt(0)
		<-timer.ended
	}
	info, _ := debug.ReadBuildInfo()
	if info == nil || slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"}) {
		t.Skip("with the race detector the Go runtime reports no deadlock")
	}
	t.Parallel() // its time is that of the child
	c := exec.Command(os.Args[0], "-test.run=^TestDeadlockIsReported$", "-test.timeout=0")
	c.Env = append(os.Environ(), own+"=1")
	out := new(strings.Builder)
	c.Stdout, c.Stderr = out, out
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	late := time.AfterFunc(patience, func() { c.Process.Kill() })
	defer late.Stop()
	if c.Wait(); !strings.Contains(out.String(), "all goroutines are asleep") {
		t.Errorf("the process ended with %v: %s", c.ProcessState, out)
	}
}
