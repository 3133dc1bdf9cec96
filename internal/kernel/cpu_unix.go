//go:build unix && !linux

package kernel

import "golang.org/x/sys/unix"

// ExactCPU reports whether ProcessCPU is exact to a millisecond.
const ExactCPU = true

// ProcessCPU returns the processor time that the process has used, in ns.
func ProcessCPU() int64 {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return u.Utime.Nano() + u.Stime.Nano()
}
