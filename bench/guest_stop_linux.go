package main

import (
	"fmt"
	"runtime"
	"time"

	"golang.org/x/sys/unix"
)

// threadClock is the processor time of a thread, to which it ties the calling goroutine. Time in
// which the kernel runs other threads on the thread's core does not count.
func threadClock() (read func() time.Duration, err error) {
	runtime.LockOSThread()
	const perThread, ofScheduler = 4, 2
	id := int32(^unix.Gettid()<<3 | perThread | ofScheduler)
	return func() time.Duration {
		var t unix.Timespec
		if err := unix.ClockGettime(id, &t); err != nil {
			panic(fmt.Sprintf("the thread has ended: %v", err)) // not before its goroutine
		}
		return time.Duration(t.Nano())
	}, nil
}
