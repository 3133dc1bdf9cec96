package cocoondebug

import (
	"context"
	"errors"
	"net/http"
	"os"
	"sync"
	"time"
)

// readsWithin is how long a viewer may take to read a snapshot before it is dropped.
const readsWithin = 10 * time.Second

// stream sends snapshots as server-sent events until the client goes away, the server shuts down or
// the runtime ends.
func (h *handler) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no") // for proxies, which would wait for more
	if r.Method == http.MethodHead {
		return
	}
	if !h.collector.join() {
		w.Header().Set("Retry-After", "5")
		http.Error(w, "cocoondebug: there are too many viewers; close some pages", http.StatusServiceUnavailable)
		return
	}
	dropped := false
	defer func() { h.collector.leave(dropped) }()
	ctx, stop := h.streams.during(r)
	defer stop()
	// The connection's next response has no deadline.
	defer http.NewResponseController(w).SetWriteDeadline(time.Time{})
	as, after := h.formOf(r), uint64(0)
	as.Event = true
	for {
		f := h.collector.next(ctx, after)
		if f == nil {
			return
		}
		after = f.shown.Number
		event, err := f.as(as)
		if err != nil {
			h.Logger.Error("cocoondebug: no event", "err", err)
			return
		}
		if err := send(w, event, h.patience); err != nil {
			dropped = errors.Is(err, os.ErrDeadlineExceeded)
			return
		}
		if f.shown.Ended {
			return
		}
	}
}

// send writes an event. If the client does not read, it fails with os.ErrDeadlineExceeded. Where
// the server has no write deadlines, it waits for the client: then maxViewers is the bound.
func send(w http.ResponseWriter, event []byte, within time.Duration) error {
	c := http.NewResponseController(w)
	if err := c.SetWriteDeadline(time.Now().Add(within)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if _, err := w.Write(event); err != nil {
		return err
	}
	return c.Flush()
}

// streams ends the streams of a server that shuts down: http.Server.Shutdown waits for them.
type streams struct {
	mu  sync.Mutex
	ctx map[*http.Server]context.Context
}

// during returns a context that ends with the request, or when its server begins to shut down.
func (s *streams) during(r *http.Request) (context.Context, func()) {
	ctx, cancel := context.WithCancel(r.Context())
	server, ok := r.Context().Value(http.ServerContextKey).(*http.Server)
	if !ok {
		return ctx, cancel
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	over, known := s.ctx[server]
	if !known {
		if s.ctx == nil {
			s.ctx = map[*http.Server]context.Context{}
		}
		var end context.CancelFunc
		over, end = context.WithCancel(context.Background())
		s.ctx[server] = over
		server.RegisterOnShutdown(end)
	}
	stop := context.AfterFunc(over, cancel)
	return ctx, func() { stop(); cancel() }
}
