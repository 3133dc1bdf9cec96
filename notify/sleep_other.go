//go:build !linux

package notify

func newSleeper() sleeper { return newGoSleeper() }
