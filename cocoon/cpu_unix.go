//go:build unix && !linux

package cocoon

import "golang.org/x/sys/unix"

// processCPU returns the processor time that the process has used, in ns.
func processCPU() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
