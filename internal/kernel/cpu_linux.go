package kernel

import "golang.org/x/sys/unix"

// ExactCPU reports whether ProcessCPU is exact to a millisecond.
const ExactCPU = true

// ProcessCPU returns the processor time that the process has used, in ns. The clock includes the
// time that running threads have used since the kernel's last tick, which getrusage omits.
func ProcessCPU() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
