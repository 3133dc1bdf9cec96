//go:build !linux

package loadtest

import (
	"os/exec"
	"time"
)

// allowedCPUs returns none, because cores cannot be chosen on this system.
func allowedCPUs() ([]int, error) { return nil, nil }

func startPinned(cmd *exec.Cmd, _ []int) error { return cmd.Start() }

// Confine does nothing, because Place returns no cores on this system.
func Confine([]int) (release func() error, err error) { return func() error { return nil }, nil }

func exactTimer() {}

func sleepUntil(t time.Time) { time.Sleep(time.Until(t)) }
