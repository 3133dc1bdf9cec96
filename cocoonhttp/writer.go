package cocoonhttp

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"time"
)

// writer is the http.ResponseWriter of a handler. It leads to the answer as long as the handler
// runs: after that the answer is another request's.
type writer struct {
	answer *answer // of the handler; then nil, or what others write around it

	// What is left when the handler has ended.
	under    http.ResponseWriter
	request  *http.Request // the server's; nil as long as the handler runs
	status   int16         // that of the answer; 0: none has been sent yet
	hijacked bool
}

// errEnded is what a handler hears that goes on writing when its request has ended.
var errEnded = errors.New("cocoonhttp: the handler has returned; write before that, or hijack the connection")

// live returns the answer. When the handler has ended it leads to the writer below as long as the
// server has the request, for frameworks leave the writer that they were given in its place, and
// write their answer to the handler's error to it (echo.WrapMiddleware). After that it leads
// nowhere: the writer below may be another request's too.
func (w *writer) live() *answer {
	if w.request == nil {
		return w.answer
	}
	ctx := w.request.Context()
	switch {
	case ctx.Err() != nil:
		return &answer{under: nobody{}, ctx: context.Background(), status: http.StatusOK, length: -1, err: errEnded}
	case w.answer == nil:
		w.answer = &answer{
			under: w.under, request: w.request, ctx: ctx, status: int(w.status), sent: w.status != 0, length: -1, exposed: true, hijacked: w.hijacked,
		}
	}
	return w.answer
}

// leave parts the writer from the answer of its handler, which has ended.
func (w *writer) leave(e *exchange) {
	*w = writer{under: e.under, request: e.request, hijacked: e.hijacked}
	if e.sent {
		w.status = int16(e.status)
	}
}

type nobody struct{}

func (nobody) Header() http.Header       { return http.Header{} }
func (nobody) Write([]byte) (int, error) { return 0, errEnded }
func (nobody) WriteHeader(int)           {}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header { return w.live().Header() }

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) { w.live().WriteHeader(status) }

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) { return w.live().Write(p) }

// WriteString implements io.StringWriter.
func (w *writer) WriteString(s string) (int, error) { return w.live().WriteString(s) }

// ReadFrom implements io.ReaderFrom.
func (w *writer) ReadFrom(src io.Reader) (int64, error) { return w.live().ReadFrom(src) }

// FlushError is for http.ResponseController.
func (w *writer) FlushError() error { return w.live().FlushError() }

// SetReadDeadline is for http.ResponseController.
func (w *writer) SetReadDeadline(t time.Time) error { return w.live().control().SetReadDeadline(t) }

// SetWriteDeadline is for http.ResponseController.
func (w *writer) SetWriteDeadline(t time.Time) error { return w.live().control().SetWriteDeadline(t) }

// EnableFullDuplex is for http.ResponseController.
func (w *writer) EnableFullDuplex() error {
	a := w.live()
	a.duplex = true
	return a.control().EnableFullDuplex()
}

// Unwrap returns the writer below. What is held is sent first, and from now on nothing is held, and
// a throw aborts the request, because nobody knows what has been sent.
func (w *writer) Unwrap() http.ResponseWriter {
	a := w.live()
	a.send()
	a.exposed = true
	return a.under
}

// Handlers ask by type assertion what a writer can do, so it must be able to do what the one below
// it is, and no more. (ReaderFrom and StringWriter promise nothing but speed.) What net/http has is
// one pointer, and costs no allocation.
type (
	flusher  struct{ *writer }
	hijacker struct{ flusher } // HTTP/1
	pusher   struct{ flusher } // HTTP/2
)

// skills is what a http.ResponseWriter can do beside the usual.
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
	if under, ok := p.live().under.(http.Pusher); ok {
		return under.Push(target, opts)
	}
	return errEnded
}

// Hijack implements http.Hijacker.
func (h hijacker) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	a := h.live()
	if err := a.send(); err != nil {
		return nil, nil, err
	}
	forget := take(a.ctx, a.request)
	c, buffered, err := a.under.(http.Hijacker).Hijack()
	if err != nil {
		forget()
		return nil, nil, err
	}
	a.hijacked = true
	c, buffered = takeOver(a.ctx, c, buffered)
	return c, buffered, nil
}
