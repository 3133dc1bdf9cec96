//go:build unix

package main

import (
	"fmt"
	"syscall"
)

// processorTime is how long this process has used processors, in seconds.
func processorTime() float64 {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		panic(fmt.Sprintf("getrusage: %v", err)) // it has no way to fail for oneself
	}
	return float64(u.Utime.Nano()+u.Stime.Nano()) / 1e9
}
