package kernel

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// setSlices asks for slices of d for every thread of the process that has longer ones, or for the
// kernel's default for all threads if d is 0. It reports whether the kernel complies. A thread's
// policy and niceness stay the same, and threads with a real-time policy are left alone.
//
// Programs that the process starts must not inherit the slices, so new threads begin with the
// kernel's default (reset on fork). The kernel does not distinguish new threads of the process, so
// setSlices must be called again when there are more threads. A process without privileges cannot
// undo the reset on fork. The reset changes nothing else, unless a thread has a negative niceness,
// which it would reset too; such threads are left alone.
func setSlices(d time.Duration) bool {
	done := false
	for range 2 { // twice, for threads created meanwhile
		tasks, err := os.ReadDir("/proc/self/task")
		if err != nil {
			return false
		}
		for _, t := range tasks {
			if tid, err := strconv.Atoi(t.Name()); err == nil {
				done = setSlice(tid, d) || done
			}
		}
	}
	return done
}

func setSlice(tid int, d time.Duration) bool {
	attr, err := unix.SchedGetAttr(tid, 0)
	if err != nil || attr.Policy != unix.SCHED_NORMAL && attr.Policy != unix.SCHED_BATCH {
		return false
	}
	if attr.Nice < 0 {
		return false
	}
	if attr.Runtime > 0 && attr.Runtime <= uint64(d) {
		// The timer of an earlier runtime has shorter slices, and the kernel may comply.
		return true
	}
	attr.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
	attr.Runtime, attr.Deadline, attr.Period = uint64(d), 0, 0
	if unix.SchedSetAttr(tid, attr, 0) != nil {
		return false
	}
	// A kernel without slices per thread accepts the call and reports no slice.
	attr, err = unix.SchedGetAttr(tid, 0)
	return err == nil && attr.Runtime > 0
}
