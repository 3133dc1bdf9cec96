package cocoonhttp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// lastAnswers is how long those that were thrown into at the end have for their 503.
const lastAnswers = time.Second

// Shutdown ends a server, or several that run tasks of one runtime, and then the runtime. It drains
// first: no new connections, and requests in flight run to their end. No server waits for
// connections that handlers have taken over, as those of web sockets: their tasks are cancelled
// then (http.Server.RegisterOnShutdown is where to say goodbye). When ctx ends before that, what is
// left is thrown into, and answered like any throw; connections that are still not idle within a
// second after that are closed. The error is that of rt.Shutdown, which names the tasks that did
// not end even then; a request that had to be thrown into is none.
func Shutdown(ctx context.Context, srv *http.Server, rt *cocoon.Runtime, more ...*http.Server) error {
	servers := append([]*http.Server{srv}, more...)
	drained := each(servers, func(s *http.Server) error { return s.Shutdown(ctx) })
	for _, s := range servers {
		cancelTaken(s)
	}
	err := rt.Shutdown(ctx)
	if drained == nil {
		return err
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastAnswers)
	defer cancel()
	closed := each(servers, func(s *http.Server) error {
		if s.Shutdown(last) != nil {
			return s.Close()
		}
		return nil
	})
	if closed == nil {
		return err
	}
	return errors.Join(err, closed)
}

// each calls fn for all servers at the same time, and returns what errors there were.
func each(servers []*http.Server, fn func(*http.Server) error) error {
	errs := make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { errs[i] = fn(s) })
	}
	all.Wait()
	return errors.Join(errs...)
}
