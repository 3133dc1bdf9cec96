package cocoon

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
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
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	var over atomic.Bool
	other, task := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(other)
		pin(t, one)
		for !over.Load() {
		}
	}()
	enough := longtest.Count(50, 15)
	yields, switched := 0, 0
	go func() {
		defer close(task)
		pin(t, one)
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

// Two tasks share a core. Each keeps the core for a breath before it yields, although the breath
// since its last yield has passed while it waited. Their yields take long, and a task yields less
// often once a few have.
func TestTasksThatShareACore(t *testing.T) {
	one := oneCore(t)
	rt := start(t, Config{Slots: 2, StallAfter: -1})
	const enough = 100
	var over atomic.Bool
	var kept [2][]time.Duration // how long each task had kept the core when it yielded
	var shared [2]int           // how often it knew that it shares the core
	spin := func(i int) func(context.Context) error {
		return func(ctx context.Context) error {
			s := TaskOf(ctx).strand
			for back, end := time.Now(), time.Now().Add(patience); !over.Load() && time.Now().Before(end); {
				last, before := s.breath.last.Load(), time.Now()
				if SafePoint(ctx); s.breath.last.Load() == last {
					continue
				}
				kept[i] = append(kept[i], before.Sub(back))
				if s.shares == sharedTimes {
					shared[i]++
					if every := time.Duration(s.breathEvery()); every != sharedBreaths*defaultBreath {
						t.Errorf("a task that shares its core yields every %v; want %v", every, sharedBreaths*defaultBreath)
					}
				}
				if len(kept[i]) >= enough && shared[i] > 0 {
					over.Store(true)
				}
				back = time.Now()
			}
			return nil
		}
	}
	var tasks sync.WaitGroup
	for i := range 2 {
		tasks.Go(func() {
			pin(t, one)
			rt.Run(background, "spin", spin(i))
		})
	}
	tasks.Wait()
	short, all := 0, slices.Concat(kept[0], kept[1])
	for _, d := range all {
		if d < defaultBreath*3/4 {
			short++
		}
	}
	if short > len(all)/10 || len(all) < enough || shared[0]+shared[1] == 0 {
		t.Errorf("in %d of %d cases a task yielded before a breath had passed: %v; %d times it knew that it shares its core",
			short, len(all), all, shared[0]+shared[1])
	}
}

// pin binds the calling goroutine to a thread, and the thread to the core, for good.
func pin(t *testing.T, core unix.CPUSet) {
	runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
	if err := unix.SchedSetaffinity(0, &core); err != nil {
		t.Error(err)
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
