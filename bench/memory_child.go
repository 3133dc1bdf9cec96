package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// memoryConfig is the configuration of a process that measures memory.
type memoryConfig struct {
	Part   string
	Cocoon bool // tasks, or plain goroutines
	N      int
}

// measureMemory is the body of the process: it prints the figures of one part.
func measureMemory(c memoryConfig) error {
	parts := map[string]func(memoryConfig, *cocoon.Runtime) (figures, error){
		"blocked": blockedCrowd, "queued": queuedCrowd, "returning": returningCrowd, "retained": retained, "chain": chain,
	}
	part, ok := parts[c.Part]
	if !ok {
		return fmt.Errorf("no part %q", c.Part)
	}
	var rt *cocoon.Runtime
	if c.Cocoon {
		var err error
		// The runtime's log is written, but not shown.
		logger := slog.New(slog.NewTextHandler(io.Discard, nil))
		if rt, err = cocoon.New(cocoon.Config{Logger: logger}); err != nil {
			return err
		}
	}
	f, err := part(c, rt)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(f)
}

// alive returns the bytes of heap and stack in use.
func alive() (bytes float64) {
	for range 3 { // the second and third collection free the memory that finalizers and pools hold
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc + m.StackInuse)
}

// A crowd is checked every glance until it is complete, for at most patience.
const (
	crowdGlance   = time.Millisecond
	crowdPatience = time.Minute
)

// blockedCrowd is a number of goroutines that wait for a channel, each inside a Block of its task
// or without one.
func blockedCrowd(c memoryConfig, rt *cocoon.Runtime) (figures, error) {
	var waiting atomic.Int64
	release := make(chan struct{})
	wait := func() error {
		waiting.Add(1)
		<-release
		return nil
	}
	member := func() error {
		if rt == nil {
			return wait()
		}
		return rt.Run(context.Background(), "wait", func(ctx context.Context) error { return cocoon.Block(ctx, wait) })
	}
	return crowdFigures(c.N, member, func() bool { return waiting.Load() == int64(c.N) }, func() { close(release) })
}

// returningCrowd is blockedCrowd, except that the goroutines then wait for each other, outside of
// Block.
func returningCrowd(c memoryConfig, rt *cocoon.Runtime) (figures, error) {
	var waiting, back atomic.Int64
	release, together := make(chan struct{}), make(chan struct{})
	wait := func() error {
		waiting.Add(1)
		<-release
		return nil
	}
	rendezvous := func() {
		if back.Add(1) == int64(c.N) {
			close(together)
		}
		<-together
	}
	member := func() error {
		if rt == nil {
			wait()
			rendezvous()
			return nil
		}
		return rt.Run(context.Background(), "wait", func(ctx context.Context) error {
			err := cocoon.Block(ctx, wait)
			rendezvous()
			return err
		})
	}
	return crowdFigures(c.N, member, func() bool { return waiting.Load() == int64(c.N) }, func() { close(release) })
}

// queuedCrowd is a number of goroutines that wait in the queue of a held loop, or for a channel.
func queuedCrowd(c memoryConfig, rt *cocoon.Runtime) (figures, error) {
	if rt == nil {
		return blockedCrowd(c, nil)
	}
	rt.Loop().Hold()
	member := func() error { return rt.Run(context.Background(), "wait", nothing) }
	return crowdFigures(c.N, member, func() bool { return rt.Loop().Stats().Queued == c.N }, rt.Loop().Release)
}

// crowdFigures calls member, which waits, on n goroutines, and releases all of them when all wait.
func crowdFigures(n int, member func() error, complete func() bool, release func()) (figures, error) {
	var failed atomic.Pointer[error]
	var all sync.WaitGroup
	before, begin := alive(), time.Now()
	for range n {
		all.Go(func() {
			if err := member(); err != nil {
				failed.Store(&err)
			}
		})
	}
	for !complete() && failed.Load() == nil && time.Since(begin) < crowdPatience {
		time.Sleep(crowdGlance)
	}
	up := time.Since(begin)
	bytes := (alive() - before) / float64(n)
	if up >= crowdPatience {
		fmt.Fprintf(os.Stderr, "not all of %d tasks wait after %v: their time is at least that\n", n, crowdPatience)
		return figures{bytes, micros(up) / 1e3, 0}, nil
	}
	begin = time.Now()
	release()
	all.Wait()
	down := time.Since(begin)
	if err := failed.Load(); err != nil {
		return nil, *err
	}
	return figures{bytes, micros(up) / 1e3, micros(down) / 1e3}, nil
}
