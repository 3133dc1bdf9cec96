package cocoon

import (
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// canYield reports whether yieldCore does something.
const canYield = true

// yieldCore lets another thread of this core run, if one waits: about 1 µs, and nothing else
// happens if none does. It is a raw system call, because it returns at once as far as Go is
// concerned: the P stays here.
func yieldCore() { unix.RawSyscall(unix.SYS_SCHED_YIELD, 0, 0, 0) }

// setSlices asks for slices of d for every thread of the process that has longer ones, 0 for the
// kernel's default for all, and reports whether the kernel complies. A thread's policy and niceness
// stay as they are, and threads under a real-time policy are left alone.
//
// Programs that the process starts must not inherit the slices, so threads have the kernel's
// default again when they are made (reset on fork). For the kernel a new thread of the process is
// the same, so it is called again when there are more threads. A process without privileges cannot
// take that back, and it changes nothing else, unless the threads have a negative niceness, which
// would be reset as well: such threads are left alone.
func setSlices(d time.Duration) bool {
	done := false
	for range 2 { // twice, for threads that were just being created
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
		return true // the timer of an earlier runtime has shorter ones, and the kernel may
	}
	attr.Flags |= unix.SCHED_FLAG_RESET_ON_FORK
	attr.Runtime, attr.Deadline, attr.Period = uint64(d), 0, 0
	if unix.SchedSetAttr(tid, attr, 0) != nil {
		return false
	}
	// A kernel that knows no slices of a thread's own takes the call and reports no slice.
	attr, err = unix.SchedGetAttr(tid, 0)
	return err == nil && attr.Runtime > 0
}
