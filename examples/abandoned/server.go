package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/loadtest"
	"github.com/cocoon-go/cocoon/policy"
)

// serverConfig is the configuration of a server process.
type serverConfig struct {
	Size   int  // of the value, in MB
	Cocoon bool // whether work is done in tasks, under policy.CallerGone
}

// export is the result of one request for the value.
type export struct {
	Ended   int64         // when the work ended, in ns, by the machine's clock, as the client's
	Took    time.Duration // the duration of the work
	Stopped string        // what stopped the work; "": it ran to completion
}

// server serves one value.
type server struct {
	value any
	do    func(ctx context.Context, work func() error) error
	ended chan export
}

// serve is the body of the server process.
func serve(config serverConfig) error {
	s := server{value: makeValue(config.Size), do: plain, ended: make(chan export, 1)}
	if !config.Cocoon {
		return loadtest.Serve(s.handler())
	}
	rt, err := startRuntime()
	if err != nil {
		return err
	}
	s.do = inTask(rt)
	return errors.Join(loadtest.Serve(s.handler()), rt.Shutdown(context.Background()))
}

// startRuntime starts a runtime that stops tasks when their client disconnects.
func startRuntime() (*cocoon.Runtime, error) {
	rt, err := cocoon.New(cocoon.Config{})
	if err != nil {
		return nil, err
	}
	if _, err := rt.RegisterPolicy(policy.CallerGone()); err != nil {
		return nil, errors.Join(err, rt.Shutdown(context.Background()))
	}
	return rt, nil
}

// inTask does the work in a task.
func inTask(rt *cocoon.Runtime) func(ctx context.Context, work func() error) error {
	return func(ctx context.Context, work func() error) error {
		return rt.Run(ctx, "export", func(context.Context) error { return work() })
	}
}

// plain does the work in the handler, as any net/http server does.
func plain(_ context.Context, work func() error) error { return work() }

// handler responds to /export with the value, and to the next /ended, once, with the result of that
// work.
func (s server) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /export", func(w http.ResponseWriter, r *http.Request) {
		var text []byte
		begin := time.Now()
		err := s.do(r.Context(), func() (err error) {
			text, err = json.Marshal(s.value)
			return err
		})
		now := time.Now()
		e := export{Ended: now.UnixNano(), Took: now.Sub(begin)}
		var preempted *cocoon.PreemptedError
		switch {
		case errors.As(err, &preempted):
			e.Stopped = err.Error()
		case err != nil:
			http.Error(w, err.Error(), http.StatusInternalServerError)
		default:
			w.Write(text)
		}
		s.ended <- e
	})
	mux.HandleFunc("GET /ended", func(w http.ResponseWriter, r *http.Request) {
		select {
		case e := <-s.ended:
			json.NewEncoder(w).Encode(e)
		case <-r.Context().Done():
		}
	})
	return mux
}
