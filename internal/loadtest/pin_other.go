//go:build !linux

package loadtest

import (
	"os/exec"
	"time"
)

// allowedCPUs returns none: cores cannot be chosen here.
func allowedCPUs() ([]int, error) { return nil, nil }

func startPinned(cmd *exec.Cmd, _ []int) error { return cmd.Start() }

// Confine does nothing: Place gives no cores here.
func Confine([]int) (release func() error, err error) { return func() error { return nil }, nil }

func exactTimer() {}

func sleepUntil(t time.Time) { time.Sleep(time.Until(t)) }
