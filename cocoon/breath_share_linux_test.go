package cocoon

import (
	"context"
	"os"
	"os/exec"
	"runtime"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A long task keeps its share of a core beside a busy process of the same control group, although a
// thread that yields forfeits the rest of its time slice on Linux 6.18. With slices of three
// breaths, the task got a third of what the other process got.
func TestBreathKeepsItsShare(t *testing.T) {
	const variable = "COCOON_TEST_SHARE"
	if as := os.Getenv(variable); as != "" {
		busyProcess(t, as)
		return
	}
	if ownSlice(t) == 0 {
		t.Skip("this kernel gives threads no time slices of their own")
	}
	t.Parallel() // its time is that of the children
	best := 0.0
	for range 5 { // third processes may take the core from either
		task, rival := onOneCore(t, variable, "task", "rival")
		if best = max(best, float64(task)/float64(rival)); best >= 0.6 {
			return
		}
	}
	t.Errorf("a long task gets %.2f times the processor time of a busy process beside it", best)
}

// busyProcess is busy for half a second, in a task or plain. Its parent sees how much processor time
// it used.
func busyProcess(t *testing.T, as string) {
	const d = 500 * time.Millisecond
	spin := func(ctx context.Context) error {
		for begin := time.Now(); time.Since(begin) < d; {
			SafePoint(ctx)
		}
		return nil
	}
	if as == "rival" {
		must(t, spin(t.Context()))
		return
	}
	rt := start(t, Config{Slots: 1})
	must(t, rt.Run(t.Context(), "long", spin))
}

// onOneCore runs the test in two child processes at the same time on one core, with the variable
// set to a and to b, and returns how much processor time each of them used.
func onOneCore(t *testing.T, variable, a, b string) (time.Duration, time.Duration) {
	one := oneCore(t)
	children := []*exec.Cmd{}
	started := make(chan struct{})
	go func() {
		defer close(started)
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			t.Error(err)
			return
		}
		for _, as := range []string{a, b} { // a child inherits the affinity of this thread
			c := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
			c.Env = append(os.Environ(), variable+"="+as)
			if err := c.Start(); err != nil {
				t.Error(err)
				return
			}
			children = append(children, c)
		}
	}()
	if <-started; t.Failed() {
		t.FailNow()
	}
	used := func(c *exec.Cmd) time.Duration {
		must(t, c.Wait())
		return c.ProcessState.UserTime() + c.ProcessState.SystemTime()
	}
	return used(children[0]), used(children[1])
}
