package loadtest

import (
	"fmt"
	"os/exec"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// allowedCPUs returns the cores that this process may use, in order.
func allowedCPUs() ([]int, error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(0, &set); err != nil {
		return nil, fmt.Errorf("sched_getaffinity: %w", err)
	}
	var cpus []int
	for cpu := 0; len(cpus) < set.Count(); cpu++ {
		if set.IsSet(cpu) {
			cpus = append(cpus, cpu)
		}
	}
	return cpus, nil
}

// startPinned starts cmd on the given cores, or on all if there are none. A process inherits the
// affinity of the thread that starts it; so all threads of the child have it from the start, and
// its runtime.NumCPU counts only these cores.
func startPinned(cmd *exec.Cmd, cpus []int) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if len(cpus) == 0 {
		return cmd.Start()
	}
	var before, wanted unix.CPUSet
	for _, cpu := range cpus {
		wanted.Set(cpu)
	}
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return fmt.Errorf("sched_getaffinity: %w", err)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil {
		return fmt.Errorf("sched_setaffinity to cores %v: %w", cpus, err)
	}
	startErr := cmd.Start()
	if err := unix.SchedSetaffinity(0, &before); err != nil {
		return fmt.Errorf("sched_setaffinity back: %w", err)
	}
	return startErr
}

// exactTimer makes sleepUntil precise on this goroutine's thread: without timer slack, and without
// Go's timers, which in a sleeping process are precise only to the millisecond.
func exactTimer() {
	runtime.LockOSThread()
	// If this is refused, 50 µs of slack stay; the lateness is measured anyway.
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
}

func sleepUntil(t time.Time) {
	for left := time.Until(t); left > 0; left = time.Until(t) {
		wait := unix.NsecToTimespec(int64(left))
		unix.ClockNanosleep(unix.CLOCK_MONOTONIC, 0, &wait, nil)
	}
}
