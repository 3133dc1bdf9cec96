//go:build unix

package main

import (
	"syscall"
	"time"
)

// processorTime is the user and system time of this process, 0 when it cannot be measured.
func processorTime() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
