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

// writer is the http.ResponseWriter of a handler. It leads to the answer while the handler runs;
// after that, the answer belongs to another request.
type writer struct {
	answer *answer // the handler's; later nil, or the response of surrounding code

	// The fields below are set when the handler has returned.
	under    http.ResponseWriter
	request  *http.Request // the server's; nil while the handler runs
	status   int16         // of the response; 0: none has been sent yet
	hijacked bool
}

// errEnded is the error of a write after the request has ended.
var errEnded = errors.New("cocoonhttp: the handler has returned; write before that, or hijack the connection")

// live returns the answer. After the handler has returned, live leads to the underlying writer as
// long as the server has the request, because frameworks leave the handler's writer in their
// context, and use it to respond to the handler's error (echo.WrapMiddleware). When the server has
// finished the request, live leads nowhere: the underlying writer may belong to another request
// too.
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

// leave detaches the writer from the answer of its handler, which has returned.
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

// Unwrap returns the underlying writer. It sends the held bytes first. From then on nothing is held
// back, and a throw aborts the request, because it is unknown what has been sent.
func (w *writer) Unwrap() http.ResponseWriter {
	a := w.live()
	a.send()
	a.exposed = true
	return a.under
}

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
