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
// throw ends one job, which the worker may put back or report. Run may also refuse a job: then it
// does not call the function, so nothing that the function defers puts the job back. A job is done
// only if Run returns nil.
func Example_worker() {
	rt, err := cocoon.New(cocoon.Config{})
	if err != nil {
		log.Fatal(err)
	}
	document := `version: 1
limits: [{func: resize, limit: 10ms, reason: the picture is too large}]
policies:
  - {name: no-videos, on: enqueue, expr: 'arriving.name == "video" ? throw("not now") : continue()'}`
	if err := rt.LoadPolicies(strings.NewReader(document)); err != nil {
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
		task string
		do   func(context.Context) error
	}
	jobs := make(chan job, 4)
	jobs <- job{"small", "resize", func(ctx context.Context) error { return resize(ctx, 3) }}
	jobs <- job{"endless", "resize", endless}
	jobs <- job{"film", "video", func(ctx context.Context) error { return resize(ctx, 3) }}
	jobs <- job{"next", "resize", func(ctx context.Context) error { return resize(ctx, 3) }}
	close(jobs)
	for job := range jobs {
		err := rt.Run(context.Background(), job.task, job.do)
		var thrown *cocoon.PreemptedError
		switch {
		case err == nil:
			fmt.Println(job.name, "is done") // take it off the queue
		case errors.As(err, &thrown) && thrown.Started:
			fmt.Println(job.name, "was stopped:", thrown.Reason)
		case errors.As(err, &thrown), errors.Is(err, cocoon.ErrOverloaded), errors.Is(err, cocoon.ErrShutdown):
			fmt.Println(job.name, "never ran:", err) // put it back
		default:
			fmt.Println(job.name, "failed:", err)
		}
	}
	fmt.Println("shutdown:", rt.Shutdown(context.Background()))
	// Output:
	// small is done
	// endless was stopped: the picture is too large
	// film never ran: task "video" refused by policy "no-videos": not now
	// next is done
	// shutdown: <nil>
}
