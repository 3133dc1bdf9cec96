package main

import (
	"sync"
	"sync/atomic"
	"time"
)

// forking promises goroutines to a group that it waits for, in the end and when it is thrown out of. So it starts all of them.
func forking() engine {
	var promised, ended atomic.Int32
	fork := func() {
		const n = 3
		var group sync.WaitGroup
		defer group.Wait()
		group.Add(n)
		promised.Add(n)
		for range n {
			for begin := time.Now(); time.Since(begin) < 10*time.Millisecond; {
			}
			go func() {
				defer group.Done()
				ended.Add(1)
			}()
		}
	}
	return engine{
		"sync.WaitGroup",
		func() error {
			for {
				fork()
			}
		},
		func() error { return equal(ended.Load(), promised.Load()) },
	}
}

// fanning waits for its goroutines without a deferred call. A throw leaves none of them behind.
func fanning() engine {
	var started, ended atomic.Int32
	fan := func() {
		var group sync.WaitGroup
		for range 3 {
			started.Add(1)
			group.Go(func() {
				time.Sleep(5 * time.Millisecond)
				ended.Add(1)
			})
			for begin := time.Now(); time.Since(begin) < 3*time.Millisecond; {
			}
		}
		group.Wait()
	}
	return engine{
		"sync.WaitGroup without defer",
		func() error {
			for {
				fan()
			}
		},
		func() error { return equal(ended.Load(), started.Load()) },
	}
}
