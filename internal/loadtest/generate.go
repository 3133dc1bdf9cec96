package loadtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"runtime"
	"sync"
	"time"
)

// message is one line of a generator's standard output: progress every quarter of a second, and the
// outcome at the end.
type message[P, O any] struct {
	Progress *P `json:",omitempty"`
	Outcome  *O `json:",omitempty"`
}

// Generate is the body of a generator process: it calls drive, reports its progress, and reports
// the outcome at the end. It ends early when its standard input does, which means that the
// experiment has died or stops the generator.
func Generate[P, O any](drive func(context.Context), progress func() P, outcome func() O) error {
	runtime.GOMAXPROCS(max(4, runtime.NumCPU())) // the dispatcher's sleep holds one P
	ctx, cancel := context.WithCancelCause(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		cancel(errors.New("the experiment has ended"))
	}()
	out := json.NewEncoder(os.Stdout)
	finished := make(chan struct{})
	go func() {
		drive(ctx)
		close(finished)
	}()
	for tick := time.Tick(250 * time.Millisecond); ; {
		select {
		case <-tick:
			p := progress()
			if err := out.Encode(message[P, O]{Progress: &p}); err != nil {
				return err
			}
		case <-finished:
			if ctx.Err() != nil {
				return context.Cause(ctx) // drive may have returned because of that
			}
			o := outcome()
			return out.Encode(message[P, O]{Outcome: &o})
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Follow starts the role "generator" (see Generate), shows its progress and returns its outcome.
func Follow[P, O any](ctx context.Context, config any, cores []int, stderr io.Writer, show func(P)) (outcome O, err error) {
	generator, err := Start(ctx, "generator", config, cores, nil, stderr)
	if err != nil {
		return outcome, err
	}
	defer func() { err = errors.Join(err, generator.Stop()) }()
	for {
		var news message[P, O]
		if err := generator.Receive(&news); err != nil {
			return outcome, err
		}
		if news.Outcome != nil {
			return *news.Outcome, nil
		}
		if news.Progress != nil {
			show(*news.Progress)
		}
	}
}

// Measure is Follow, and also returns the resource usage of the server during it. The server must
// call Attend.
func Measure[P, O any](ctx context.Context, server *Child, config any, cores []int, stderr io.Writer, show func(P)) (outcome O, used Usage, err error) {
	before, err := server.Usage()
	if err != nil {
		return outcome, used, err
	}
	if outcome, err = Follow[P, O](ctx, config, cores, stderr, show); err != nil {
		return outcome, used, err
	}
	after, err := server.Usage()
	return outcome, after.Since(before), err
}

// Dispatch calls send(i), each call on a new goroutine, at the times at(i) after start, whether or
// not earlier calls have returned; the times are in order. It returns when all calls have.
func Dispatch(start time.Time, n int, at func(i int) time.Duration, send func(i int)) {
	exactTimer()
	defer runtime.UnlockOSThread()
	var all sync.WaitGroup
	for i := range n {
		sleepUntil(start.Add(at(i)))
		all.Go(func() { send(i) })
	}
	all.Wait()
}

// NewClient returns an HTTP client for a generator. No request waits for a connection.
func NewClient() *http.Client {
	return &http.Client{Transport: &http.Transport{
		MaxIdleConnsPerHost: 4096, // plus one for each request in flight
		DisableCompression:  true,
	}}
}

// Do makes a request and reads the response. If ctx ends before that, the error is its cause.
func Do(ctx context.Context, client *http.Client, method, url string, body []byte) (status int, text []byte, err error) {
	request, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(body))
	if err != nil {
		return 0, nil, err
	}
	response, err := client.Do(request)
	if err == nil {
		status = response.StatusCode
		text, err = io.ReadAll(response.Body)
		response.Body.Close()
	}
	if cause := context.Cause(ctx); err != nil && cause != nil {
		err = cause
	}
	return status, text, err
}
