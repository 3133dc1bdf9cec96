package cocoonhttp

import (
	"bufio"
	"net"
	"net/http"
)

// Handlers find out by type assertion what a writer can do, so it must have exactly the optional
// interfaces of the underlying writer. (ReaderFrom and StringWriter promise only speed.) The
// combinations that net/http has are one pointer, and cost no allocation.
type (
	flusher  struct{ *writer }
	hijacker struct{ flusher } // HTTP/1
	pusher   struct{ flusher } // HTTP/2
)

// skills are the optional interfaces of a http.ResponseWriter.
type skills uint8

const (
	flushes skills = 1 << iota
	hijacks
	pushes
)

func skillsOf(w http.ResponseWriter) (s skills) {
	if _, ok := w.(http.Flusher); ok {
		s |= flushes
	}
	if _, ok := w.(http.Hijacker); ok {
		s |= hijacks
	}
	if _, ok := w.(http.Pusher); ok {
		s |= pushes
	}
	return s
}

// facet returns the writer as one with these skills.
func (w *writer) facet(s skills) http.ResponseWriter {
	f := flusher{w}
	switch s {
	case flushes | hijacks | pushes:
		return struct {
			hijacker
			http.Pusher
		}{hijacker{f}, pusher{f}}
	case hijacks | pushes:
		return struct {
			*writer
			http.Hijacker
			http.Pusher
		}{w, hijacker{f}, pusher{f}}
	case flushes | hijacks:
		return hijacker{f}
	case flushes | pushes:
		return pusher{f}
	case flushes:
		return f
	case hijacks:
		return struct {
			*writer
			http.Hijacker
		}{w, hijacker{f}}
	case pushes:
		return struct {
			*writer
			http.Pusher
		}{w, pusher{f}}
	}
	return w
}

// Flush implements http.Flusher.
func (f flusher) Flush() { f.FlushError() }

// Push implements http.Pusher.
func (p pusher) Push(target string, opts *http.PushOptions) error {
	defer p.mu.Unlock()
	if under, ok := p.lock().under.(http.Pusher); ok {
		return under.Push(target, opts)
	}
	return errEnded
}

// Hijack implements http.Hijacker.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	defer h.mu.Unlock()
	r := h.lock()
	if err := r.send(); err != nil {
		return nil, nil, err
	}
	forget := take(r.ctx, r.request)
	c, buffered, err := r.under.(http.Hijacker).Hijack()
	if err != nil {
		forget()
		return nil, nil, err
	}
	r.hijacked, r.conn = true, c
	c, buffered = takeOver(r.ctx, c, buffered)
	return c, buffered, nil
}
