package notify

import (
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestThreadIsPreciseAndEndsWithTheTimer(t *testing.T) {
	type seen struct {
		thread, slack int
		slice         uint64
		err           error
	}
	saw := make(chan seen, 1)
	timer := NewTimer(func(int64) int64 {
		slack, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
		saw <- seen{unix.Gettid(), slack, ownSlice(t), err}
		return Never
	})
	defer timer.Close()
	timer.WakeAt(0)
	s := <-saw
	if s.err != nil || s.slack != 1 {
		t.Fatalf("the thread's timer slack is %d ns (%v), want 1", s.slack, s.err)
	}
	if usual := ownSlice(t); usual > shortestSlice && s.slice != shortestSlice {
		t.Errorf("the thread's time slice is %d ns, want %d; that of others is %d", s.slice, shortestSlice, usual)
	}
	timer.WakeAt(0)
	if again := <-saw; again.thread != s.thread {
		t.Fatalf("the handler ran on thread %d, then on %d", s.thread, again.thread)
	}
	timer.Close()
	if s.thread == os.Getpid() {
		return // it was the process's first thread, which Go parks instead of ending it
	}
	dir := fmt.Sprintf("/proc/self/task/%d", s.thread)
	for start := Now(); ; {
		if _, err := os.Stat(dir); os.IsNotExist(err) {
			return
		}
		if Now()-start > int64(patience) {
			t.Fatalf("thread %d outlives its timer", s.thread)
		}
	}
}

// TestLongSleepNeedsNoP checks that the thread passes its P on before a long sleep. When it took
// the only P into its sleep, the process stood still for about 2 ms, until sysmon found out.
func TestLongSleepNeedsNoP(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	ran := make(chan int64, 1)
	timer := NewTimer(func(int64) int64 {
		select {
		case ran <- Now():
		default: // it slept for a second
		}
		return Now() + int64(time.Second)
	})
	defer timer.Close()
	least := time.Hour
	for range 5 {
		for end := time.Now().Add(25 * time.Millisecond); time.Now().Before(end); {
			// Sysmon looks every 10 ms after that.
		}
		timer.WakeAt(0)
		at := <-ran
		least = min(least, time.Duration(Now()-at))
	}
	if least > 500*time.Microsecond {
		t.Errorf("another goroutine got the only P %v or more after the timer went to sleep", least)
	}
}

// TestMonotonicBase checks that the kernel's clock and Now differ by a constant, measured once: a
// deadline passed to the kernel is neither early nor far off.
func TestMonotonicBase(t *testing.T) {
	for range 100 {
		before := Now()
		var ts unix.Timespec
		if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts); err != nil {
			t.Fatal(err)
		}
		after := Now()
		// Of one clock, undisturbed; the base may be too great by as much.
		const reading = int64(time.Microsecond)
		if now := ts.Nano() - monotonicBase; now < before-reading || now > after {
			t.Fatalf("the kernel's clock says %d, Now %d before and %d after", now, before, after)
		}
	}
}

// ownSlice returns the calling thread's time slice in ns; 0 if the kernel does not provide it.
func ownSlice(t *testing.T) uint64 {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Error(err)
		return 0
	}
	return attr.Runtime
}
