package cocoonhttp

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// writer is the http.ResponseWriter of a handler. It leads to the held response while the handler
// runs; after that, the held response belongs to another request.
type writer struct {
	// mu guards the fields below except under, and the response. A handler's goroutine may write
	// while a throw unwinds the handler, although the handler would have waited for it.
	mu       sync.Mutex
	response *heldResponse // the handler's; later nil, or the response of surrounding code
	under    http.ResponseWriter

	// The fields below are set when the exchange has ended.
	request  *http.Request // the server's; nil before that, or if the handler's writes lead nowhere
	status   int16         // of the response; 0: none has been sent yet
	hijacked bool

	// setting is how many goroutines are setting deadlines, or one of the constants below. A
	// deadline may be set while a goroutine is in a call, to end that call, so mu does not serve.
	setting atomic.Int32
}

const (
	setNone   = -1 // the exchange has ended
	setAround = -2 // surrounding code has the writer; request and under may be read
)

// errEnded is the error of a write after the request has ended.
var errEnded = errors.New("cocoonhttp: the handler has returned; write before that, or hijack the connection")

// lock returns the response for one call. The caller unlocks mu. No code of the handler runs
// meanwhile.
func (w *writer) lock() *heldResponse {
	w.mu.Lock()
	return w.live()
}

// live returns the response. After the handler has returned, live leads to the underlying writer as
// long as the server has the request, because frameworks leave the handler's writer in their
// context, and use it to respond to the handler's error (echo.WrapMiddleware). When the server has
// finished the request, or a throw has ended the handler, live leads nowhere: the underlying writer
// may belong to another request too. Called under mu.
func (w *writer) live() *heldResponse {
	switch {
	case w.request == nil && w.response != nil:
		return w.response
	case w.request == nil || w.request.Context().Err() != nil:
		return &heldResponse{under: nobody{}, ctx: context.Background(), status: http.StatusOK, length: -1, err: errEnded}
	case w.response == nil:
		w.response = &heldResponse{
			under: w.under, request: w.request, ctx: w.request.Context(), status: int(w.status), sent: w.status != 0, length: -1, exposed: true, hijacked: w.hijacked,
		}
	}
	return w.response
}

// busy reports whether a goroutine is in a call.
func (w *writer) busy() bool {
	if w.mu.TryLock() {
		w.mu.Unlock()
		return false
	}
	return true
}

// detach waits for goroutines that are in a call, and makes all later calls lead nowhere.
func (w *writer) detach() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for !w.setting.CompareAndSwap(0, setNone) {
		runtime.Gosched()
	}
	w.response = nil
}

// leave hands the writer over to surrounding code when the exchange has ended, unless a throw has
// ended the handler: then a goroutine that the handler has left behind may still write.
func (w *writer) leave(e *exchange) {
	if e.refused {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.request, w.hijacked = e.request, e.hijacked
	if e.sent {
		w.status = int16(e.status)
	}
	w.setting.Store(setAround)
}

type nobody struct{}

func (nobody) Header() http.Header       { return http.Header{} }
func (nobody) Write([]byte) (int, error) { return 0, errEnded }
func (nobody) WriteHeader(int)           {}

// Header implements http.ResponseWriter.
func (w *writer) Header() http.Header {
	defer w.mu.Unlock()
	return w.lock().Header()
}

// WriteHeader implements http.ResponseWriter.
func (w *writer) WriteHeader(status int) {
	defer w.mu.Unlock()
	w.lock().WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *writer) Write(p []byte) (int, error) {
	defer w.mu.Unlock()
	return w.lock().Write(p)
}

// WriteString implements io.StringWriter.
func (w *writer) WriteString(s string) (int, error) {
	defer w.mu.Unlock()
	return w.lock().WriteString(s)
}

// FlushError is for http.ResponseController.
func (w *writer) FlushError() error {
	defer w.mu.Unlock()
	return w.lock().FlushError()
}

// SetReadDeadline is for http.ResponseController.
func (w *writer) SetReadDeadline(t time.Time) error {
	return w.setDeadline((*blocking).setReadDeadline, (*http.ResponseController).SetReadDeadline, t)
}

// SetWriteDeadline is for http.ResponseController.
func (w *writer) SetWriteDeadline(t time.Time) error {
	return w.setDeadline((*blocking).setWriteDeadline, (*http.ResponseController).SetWriteDeadline, t)
}

// setDeadline sets a deadline by handlers, or by around when the exchange has ended. Until then,
// the exchange waits for it: a goroutine that a throw has left behind would set a deadline of the
// next request.
func (w *writer) setDeadline(handlers func(*blocking, time.Time) error, around func(*http.ResponseController, time.Time) error, t time.Time) error {
	for {
		n := w.setting.Load()
		switch {
		case n == setAround && w.request.Context().Err() == nil:
			return around(http.NewResponseController(w.under), t)
		case n < 0:
			return errEnded
		case w.setting.CompareAndSwap(n, n+1):
			defer w.setting.Add(-1)
			return handlers(w.response.blocking(), t)
		}
	}
}

// EnableFullDuplex is for http.ResponseController.
func (w *writer) EnableFullDuplex() error {
	defer w.mu.Unlock()
	r := w.lock()
	r.duplex = true
	return r.control().EnableFullDuplex()
}

// Unwrap returns the underlying writer. It sends the held bytes first. From then on nothing is held
// back, and a throw aborts the request, because it is unknown what has been sent.
func (w *writer) Unwrap() http.ResponseWriter {
	defer w.mu.Unlock()
	r := w.lock()
	r.send()
	r.exposed = true
	return r.under
}
