package cocoonhttp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// lastResponses is how long requests have for their 503 after a throw at the end.
const lastResponses = time.Second

// Shutdown shuts down a server, or several servers that run tasks of one runtime, and then the
// runtime. It drains first: the servers accept no new connections, and requests in flight run to
// completion. Shutdown does not wait for connections that handlers have taken over, as for web
// sockets: it cancels the tasks of these handlers after the drain (use
// http.Server.RegisterOnShutdown to say goodbye). If ctx ends before that, Shutdown throws into the
// remaining tasks, and their requests get the response that any throw gets. Shutdown closes
// connections that are not idle within another second. It returns the error of rt.Shutdown, which
// names the tasks that had not ended even then. A throw into a request is not an error.
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
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastResponses)
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

// each calls fn for all servers at the same time, and returns their errors.
func each(servers []*http.Server, fn func(*http.Server) error) error {
	errs := make([]error, len(servers))
	var all sync.WaitGroup
	for i, s := range servers {
		all.Go(func() { errs[i] = fn(s) })
	}
	all.Wait()
	return errors.Join(errs...)
}
