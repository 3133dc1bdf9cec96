// Command pools throws into a client of a server again and again, and then checks that the client's
// pool has lost nothing: all its places are free, all its connections work, and no answer belongs
// to another request. The test builds it with cocoon build.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"runtime/pprof"
	"strings"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// client is a client with a pool of places connections. Its functions may be called concurrently.
type client struct {
	// returns errWrong for another request's answer
	use func(ctx context.Context, id string) error
	// connections in use; nil if the client does not tell
	in     func() int
	closed func() error
}

// places is how many connections a pool has, and workers is how many tasks share them.
const places, workers = 4, 8

// errWrong is wrapped by the error for an answer that belongs to another request.
var errWrong = errors.New("the answer belongs to another request")

// patience is how long the program waits for what must happen.
const patience = 20 * time.Second

func main() {
	throws := flag.Int("throws", 3200, "how many")
	plain := flag.Bool("plain", false, "cancel contexts instead, without tasks")
	flag.Parse()
	open := clients[flag.Arg(0)]
	if open == nil || flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: pools [-throws N] [-plain] CLIENT ADDRESS")
		os.Exit(2)
	}
	c, err := open(flag.Arg(1))
	if err != nil {
		fail(err)
	}
	rt, err := cocoon.New(cocoon.Config{Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		fail(err)
	}
	for worker := range workers {
		// A limit throws into code that runs; Cancel mostly comes while the task waits.
		limit := cocoon.TimeLimit{Func: name(worker), Limit: time.Duration(worker+1) * 25 * time.Microsecond}
		if _, err := rt.RegisterTimeLimit(limit); err != nil {
			fail(err)
		}
	}
	begin := begins(rt, *plain)
	for n := range workers { // opens the connections
		if err := c.use(context.Background(), fmt.Sprint("first", n)); err != nil {
			fail(err)
		}
	}
	throwInto(c, begin, *throws)
	check(c)
	if err := rt.Shutdown(context.Background()); err != nil {
		fail(err)
	}
	within("closing the client", c.closed)
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

func name(worker int) string { return fmt.Sprint("job", worker) }

// beginning begins an operation of a worker. stop ends the operation, and wait waits for its end.
type beginning func(worker int, fn func(context.Context) error) (stop func(), wait func() error)

func begins(rt *cocoon.Runtime, plain bool) beginning {
	return func(worker int, fn func(context.Context) error) (stop func(), wait func() error) {
		if !plain {
			h := rt.Go(context.Background(), name(worker), fn)
			return h.Cancel, func() error { return h.Wait(context.Background()) }
		}
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- fn(ctx) }()
		return cancel, func() error { return <-done }
	}
}

// throwInto throws into the users of a client.
func throwInto(c client, begin beginning, throws int) {
	var all sync.WaitGroup
	var mu sync.Mutex
	results := map[string]int{}
	for worker := range workers {
		all.Go(func() {
			for i := range throws / workers {
				stop, wait := begin(worker, func(ctx context.Context) error {
					for n := 0; ; n++ {
						switch err := c.use(ctx, fmt.Sprint(worker, "/", i, "/", n)); {
						case err == nil:
						case errors.Is(err, errWrong), ctx.Err() == nil:
							return err
						default:
							return nil
						}
					}
				})
				time.Sleep(time.Duration(rand.IntN(5000)) * time.Microsecond)
				stop()
				within("a task that was thrown into", func() error {
					err := wait()
					if errors.Is(err, errWrong) {
						return err
					}
					mu.Lock()
					defer mu.Unlock()
					results[kind(err)]++
					return nil
				})
			}
		})
	}
	all.Wait()
	fmt.Println(results)
}

// kind summarizes how a task ended.
func kind(err error) string {
	var p *cocoon.PreemptedError
	switch {
	case err == nil:
		return "returned"
	case errors.As(err, &p):
		return "thrown"
	}
	return fmt.Sprintf("%.80s", strings.TrimSpace(err.Error()))
}

// check checks that the client is as good as new.
func check(c client) {
	within("places of the pool", func() error {
		for c.in != nil && c.in() != 0 {
			time.Sleep(time.Millisecond)
		}
		return nil
	})
	within("calls through the whole pool", func() error {
		var all sync.WaitGroup
		failed := make(chan error, places*100)
		for n := range places {
			all.Go(func() {
				for i := range 25 {
					if err := c.use(context.Background(), fmt.Sprint("last", n, "/", i)); err != nil {
						failed <- err
					}
				}
			})
		}
		all.Wait()
		select {
		case err := <-failed:
			return fmt.Errorf("%d calls failed, one with: %w", len(failed)+1, err)
		default:
			return nil
		}
	})
}

// within ends the program if fn returns an error, or does not return.
func within(what string, fn func() error) {
	late := time.AfterFunc(patience, func() {
		pprof.Lookup("goroutine").WriteTo(os.Stderr, 1)
		fail(fmt.Errorf("%s: waited in vain", what))
	})
	defer late.Stop()
	if err := fn(); err != nil {
		fail(fmt.Errorf("%s: %w", what, err))
	}
}
