package cocoon_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Several tasks wait for the result of one load. The load has a goroutine and a context of its own.
// So a throw into the task that came first stops only that task, and neither the load nor the other
// tasks.
func Example_singleflight() {
	rt, err := cocoon.New(cocoon.Config{})
	if err != nil {
		log.Fatal(err)
	}
	var loads singleflight.Group
	begun, stored := make(chan string, 2), make(chan struct{})
	load := func(ctx context.Context, key string) (string, error) { // from a database, say
		begun <- key
		select {
		case <-stored:
			return "42", nil
		case <-ctx.Done():
			return "", ctx.Err()
		}
	}
	lookup := func(ctx context.Context, key string) (value string, err error) {
		loading := loads.DoChan(key, func() (any, error) {
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
			defer cancel()
			return load(ctx, key)
		})
		err = cocoon.Block(ctx, func() error {
			select {
			case r := <-loading:
				value, _ = r.Val.(string)
				return r.Err
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		})
		return value, err
	}
	ask := func(name string) *cocoon.Handle {
		return rt.Go(context.Background(), name, func(ctx context.Context) error {
			value, err := lookup(ctx, "price")
			if err == nil {
				fmt.Println(name, "got", value)
			}
			return err
		})
	}
	first := ask("first")
	<-begun // the first task has begun the load
	second := ask("second")
	first.Cancel()
	fmt.Println("first:", errors.Is(first.Wait(context.Background()), cocoon.ErrCancelled))
	close(stored)
	fmt.Println("second:", second.Wait(context.Background()))
	fmt.Println("shutdown:", rt.Shutdown(context.Background()))
	// Output:
	// first: true
	// second got 42
	// second: <nil>
	// shutdown: <nil>
}

// A worker takes jobs from a queue for as long as the program runs. Each job is a task, and the
// worker is not. So the worker holds no slot while it waits for a job, policies see each job, and a
// throw ends one job, which the worker may put back or report.
func Example_worker() {
	rt, err := cocoon.New(cocoon.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := rt.LoadPolicies(strings.NewReader("version: 1\nlimits: [{func: resize, limit: 10ms, reason: the picture is too large}]")); err != nil {
		log.Fatal(err)
	}
	resize := func(ctx context.Context, rows int) error {
		for range rows {
			time.Sleep(time.Microsecond) // instead of work
			cocoon.SafePoint(ctx)
		}
		return nil
	}
	endless := func(ctx context.Context) error {
		for {
			cocoon.SafePoint(ctx)
		}
	}
	type job struct {
		name string
		do   func(context.Context) error
	}
	jobs := make(chan job, 3)
	jobs <- job{"small", func(ctx context.Context) error { return resize(ctx, 3) }}
	jobs <- job{"endless", endless}
	jobs <- job{"next", func(ctx context.Context) error { return resize(ctx, 3) }}
	close(jobs)
	for job := range jobs {
		err := rt.Run(context.Background(), "resize", job.do)
		var thrown *cocoon.PreemptedError
		switch {
		case errors.As(err, &thrown):
			fmt.Println(job.name, "was stopped:", thrown.Reason)
		default:
			fmt.Println(job.name, "is done:", err)
		}
	}
	fmt.Println("shutdown:", rt.Shutdown(context.Background()))
	// Output:
	// small is done: <nil>
	// endless was stopped: the picture is too large
	// next is done: <nil>
	// shutdown: <nil>
}
