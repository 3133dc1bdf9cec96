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

// serverConfig is what the experiment tells a server process.
type serverConfig struct {
	Size   int  // of the value, in MB
	Cocoon bool // whether work is done in tasks, under policy.CallerGone
}

// export is what became of one request for the value.
type export struct {
	Ended   int64         // the work, by the clock of the machine, in ns: the client's clock is the same
	Took    time.Duration // the work
	Stopped string        // what stopped it; "": it ran to its end
}

// server offers one value.
type server struct {
	value any
	do    func(ctx context.Context, work func() error) error
	ended chan export
}

// serve is the server process.
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

// startRuntime starts a runtime that stops tasks whose client has gone.
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

// plain does the work as any net/http server does.
func plain(_ context.Context, work func() error) error { return work() }

// handler answers /export with the value, and then /ended, once, with what became of that.
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
