package main

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// What each request of a connection carries, and how many requests precede its stream.
const (
	carried          = 64 << 10
	requestsEachConn = 150
)

type carriedKey struct{}

// retained measures the memory in use after requests that carried much have ended: each connection
// has many of them, then becomes a stream that waits. The figure is in KiB.
func retained(c memoryConfig, rt *cocoon.Runtime) (figures, error) {
	run := func(ctx context.Context, name string, f func(context.Context) error) error {
		if rt == nil {
			return f(ctx)
		}
		return rt.Run(ctx, name, f)
	}
	request := func(ctx context.Context) error {
		return cocoon.Block(ctx, func() error { // outside a task Block only calls the function
			runtime.Gosched()
			return nil
		})
	}
	before := alive()
	release := make(chan struct{})
	var idle, all sync.WaitGroup
	idle.Add(c.N)
	for range c.N {
		all.Go(func() {
			for range requestsEachConn {
				run(context.WithValue(context.Background(), carriedKey{}, make([]byte, carried)), "request", request)
			}
			run(context.Background(), "stream", func(ctx context.Context) error {
				return cocoon.Block(ctx, func() error {
					idle.Done()
					<-release
					return nil
				})
			})
		})
	}
	idle.Wait()
	kept := alive() - before
	close(release)
	all.Wait()
	return figures{kept / 1024}, nil
}

// chain is a task that starts its successor and ends, repeatedly, as periodic jobs do.
func chain(c memoryConfig, rt *cocoon.Runtime) (figures, error) {
	// The first slice is left out: everything is new then.
	const slices, beginning, end = 1000, 10, 900
	each := max(1, c.N/slices)
	var times []float64 // ns a link, of each slice
	heap := map[int]float64{}
	done := make(chan struct{})
	next := func(_ context.Context, f func(context.Context) error) { go f(context.Background()) }
	if rt != nil {
		next = func(ctx context.Context, f func(context.Context) error) { rt.Go(ctx, "link", f) }
	}
	begin := time.Now()
	var link func(n int) func(context.Context) error
	link = func(n int) func(context.Context) error {
		return func(ctx context.Context) error {
			if n%each == 0 {
				times = append(times, float64(time.Since(begin))/float64(each))
				if len(times) == beginning || len(times) == slices {
					heap[len(times)] = alive() / 1024
				}
				begin = time.Now()
			}
			if len(times) == slices {
				close(done)
				return nil
			}
			next(ctx, link(n+1))
			return nil
		}
	}
	next(context.Background(), link(1))
	<-done
	return figures{median(times[1:beginning]), median(times[end:]), heap[beginning], heap[slices]}, nil
}
