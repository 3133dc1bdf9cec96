package cocoon

import (
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cocoon-go/cocoon/notify"
)

// A process confined to one processor has fewer Ps, whether its runtime is hot or cold. The
// confined process is a child.
func TestLimitsAreFollowed(t *testing.T) {
	const variable = "COCOON_TEST_CONFINED"
	if os.Getenv(variable) == "" {
		var cores unix.CPUSet
		if err := unix.SchedGetaffinity(0, &cores); err != nil || cores.Count() < 2 || os.Getenv("GOMAXPROCS") != "" {
			t.Skip("there is no processor to take away: ", err)
		}
		t.Parallel() // its time is that of the child
		c := exec.Command(os.Args[0], "-test.run=^TestLimitsAreFollowed$")
		c.Env = append(os.Environ(), variable+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	own := runtime.GOMAXPROCS(0)
	rt := start(t, Config{Slots: own})
	heatUp(t, rt)
	if n := runtime.GOMAXPROCS(0); n != own+SparePs {
		t.Fatalf("hot, GOMAXPROCS is %d; want %d", n, own+SparePs)
	}
	confine(t)
	eventually(t, "a hot runtime to follow", func() bool {
		rt.needHeat(notify.Now())
		w := &rt.warmth
		w.mu.Lock()
		defer w.mu.Unlock()
		if w.hot.Load() {
			w.pause = lastRenewal
			rt.renew(notify.Now())
		}
		return runtime.GOMAXPROCS(0) == 1+SparePs
	})
	eventually(t, "the runtime to cool", func() bool { return !rt.warmth.hot.Load() })
	eventually(t, "Go's choice again", func() bool { return runtime.GOMAXPROCS(0) == 1 })
}

// confine takes all processors but one from the threads of the process.
func confine(t *testing.T) {
	var cores, one unix.CPUSet
	must(t, unix.SchedGetaffinity(0, &cores))
	for cpu := 0; one.Count() == 0; cpu++ {
		if cores.IsSet(cpu) {
			one.Set(cpu)
		}
	}
	for range 2 { // twice, for threads created meanwhile
		threads, err := os.ReadDir("/proc/self/task")
		must(t, err)
		for _, thread := range threads {
			if id, err := strconv.Atoi(thread.Name()); err == nil {
				_ = unix.SchedSetaffinity(id, &one) // the thread may have ended
			}
		}
	}
}
