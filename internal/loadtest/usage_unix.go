//go:build unix

package loadtest

import (
	"fmt"
	"syscall"
	"time"
)

// CurrentUsage returns the usage of this process.
func CurrentUsage() Usage {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err)) // for the own process it cannot fail
	}
	return Usage{time.Duration(r.Utime.Nano() + r.Stime.Nano()), int64(r.Nvcsw) + int64(r.Nivcsw)}
}
