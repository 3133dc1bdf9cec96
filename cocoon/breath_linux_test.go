package cocoon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// ownSlice returns the calling thread's time slice as reported by the kernel.
func ownSlice(t *testing.T) time.Duration {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Error(err)
		return 0
	}
	return time.Duration(attr.Runtime)
}

// The yields of a task reach the kernel: next to another thread on the same core, some of them
// switch the thread. Slices end at any moment, so without the call that would happen once in a
// thousand.
func TestBreathSwitchesThreads(t *testing.T) {
	one := oneCore(t)
	pin := func() {
		runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
		if err := unix.SchedSetaffinity(0, &one); err != nil {
			t.Error(err)
		}
	}
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	var over atomic.Bool
	other, task := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(other)
		pin()
		for !over.Load() {
		}
	}()
	enough := longtest.Count(50, 15)
	yields, switched := 0, 0
	go func() {
		defer close(task)
		pin()
		rt.Run(background, "spin", func(ctx context.Context) error {
			b := &TaskOf(ctx).strand.breath
			for end := time.Now().Add(patience); switched < enough && time.Now().Before(end); {
				before, last := switches(t), b.last.Load()
				SafePoint(ctx)
				if b.last.Load() != last {
					yields++
					if switches(t) != before {
						switched++
					}
				}
			}
			return nil
		})
	}()
	<-task
	over.Store(true)
	<-other
	if switched < enough || switched < yields/20 {
		t.Errorf("%d times the task gave its core away, and %d times another thread got it", yields, switched)
	}
}

// oneCore returns a set of one core on which the process may run.
func oneCore(t *testing.T) unix.CPUSet {
	var cores, one unix.CPUSet
	if err := unix.SchedGetaffinity(0, &cores); err != nil {
		t.Skip("the kernel does not tell on which cores the process may run: ", err)
	}
	for cpu := 0; one.Count() == 0; cpu++ {
		if cores.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	return one
}

// switches returns how often the kernel has taken the calling thread from its core.
func switches(t *testing.T) int64 {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_THREAD, &u); err != nil {
		t.Error(err)
	}
	return u.Nivcsw + u.Nvcsw
}

// A program started by the process while a runtime is hot has the kernel's default slice, and the
// niceness that it would have had.
func TestChildrenHaveTheirOwnSlices(t *testing.T) {
	const variable = "COCOON_TEST_SLICE"
	if os.Getenv(variable) != "" {
		fmt.Println(int64(ownSlice(t)))
		return
	}
	if ownSlice(t) == 0 {
		t.Skip("this kernel gives threads no time slices of their own")
	}
	child := func() string {
		c := exec.Command(os.Args[0], "-test.run=^TestChildrenHaveTheirOwnSlices$")
		c.Env = append(os.Environ(), variable+"=1")
		out, err := c.Output()
		must(t, err)
		line, _, _ := strings.Cut(string(out), "\n")
		return line
	}
	usual := child()
	rt := start(t, Config{Slots: 1, Breath: 200 * time.Microsecond})
	heatUp(t, rt)
	wantSlice(t, sliceOf(200*time.Microsecond))
	if got := child(); got != usual {
		t.Errorf("the child's slice is %s ns; without a runtime it is %s", got, usual)
	}
}
