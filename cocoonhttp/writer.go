package cocoonhttp

import (
	"bufio"
	"net"
	"net/http"
)

// Handlers ask by type assertion what a writer can do, so an answer must be able to do what the writer below it is, and no
// more. (ReaderFrom and StringWriter promise nothing but speed.)
type (
	flusher   struct{ *answer }
	hijacker  struct{ flusher } // HTTP/1
	pusher    struct{ flusher } // HTTP/2
	universal struct {          // somebody else's
		hijacker
		http.Pusher
	}
)

// writer returns the answer as a writer that can do what the one below it can.
func (a *answer) writer() http.ResponseWriter {
	_, flushes := a.under.(http.Flusher)
	_, hijacks := a.under.(http.Hijacker)
	push, pushes := a.under.(http.Pusher)
	switch f := (flusher{a}); {
	case hijacks && pushes:
		return universal{hijacker{f}, push}
	case hijacks:
		return hijacker{f}
	case pushes:
		return pusher{f}
	case flushes:
		return f
	}
	return a
}

// Flush implements http.Flusher.
func (f flusher) Flush() { f.FlushError() }

// Push implements http.Pusher.
func (p pusher) Push(target string, opts *http.PushOptions) error {
	return p.under.(http.Pusher).Push(target, opts)
}

// Hijack implements http.Hijacker.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	if err := h.send(); err != nil {
		return nil, nil, err
	}
	c, buffered, err := h.under.(http.Hijacker).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.hijacked = true
	c, buffered = takeOver(h.io.ctx, c, buffered)
	return c, buffered, nil
}
