package cocoonhttp

import (
	"context"
	"io"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/tell"
)

const (
	// holdSize is how many bytes of a response are held back before any are sent. It equals the
	// buffer of net/http's own response writer, so passing the held bytes on when the handler has
	// returned never blocks.
	holdSize = 2048

	// sentAt is how many bytes net/http needs before it sends the first of them: its two buffers.
	sentAt = 4096

	// firstPart is how many bytes are collected for each write until then, so that a client gets
	// the header about as early as without Cocoon.
	firstPart = 512

	// partSize is how many bytes are collected for each later write. Such a write is a call that
	// may block, and a system call, so a handler that writes line by line should make few.
	partSize = 8 << 10
)

var (
	holds = buffers(holdSize)
	parts = buffers(partSize)
)

func buffers(size int) *sync.Pool {
	return &sync.Pool{New: func() any { b := make([]byte, 0, size); return &b }}
}

// answer is the response of a handler that runs as a task. It holds back the status and the first
// bytes, so that a throw can still replace the response, and so that a small response costs no
// Block. Like every http.ResponseWriter, it is used by one goroutine at a time; the writer's lock
// keeps a goroutine that a throw has left behind apart from the end of the exchange.
type answer struct {
	under   http.ResponseWriter
	request *http.Request   // the server's
	ctx     context.Context // the task's; nil before it has begun

	io atomic.Pointer[blocking] // nil until the first call that blocks

	asked  bool   // the handler has asked for the header
	before copied // the header at that time

	status  int        // 0: the handler has not decided yet
	late    bool       // the handler decided after it had recovered the throw
	early   bool       // the handler decided before any throw
	lost    bool       // the client did not get everything that the handler wrote
	lostTo  error      // the throw because of which, if the handler may not know of its section
	header  copied     // the header at the time of the decision
	length  int64      // of the body, as the header declares it; -1: not declared
	written int64      // by the handler
	passed  int64      // on to the underlying writer
	buffer  *[]byte    // nil while no bytes are held back
	pool    *sync.Pool // the buffer's
	held    []byte     // the bytes held back, in buffer
	err     error      // of the first write that failed

	informed bool // an informational response has been passed on
	sent     bool // the header has been passed on: the response cannot be replaced
	exposed  bool // the handler has the underlying writer, and may have written to it
	duplex   bool // the handler may read while it writes: the server leaves the body to it
	hijacked bool
}

// blocking returns the state of the task's blocking reads and writes.
func (a *answer) blocking() *blocking {
	if b := a.io.Load(); b != nil {
		return b
	}
	b := &blocking{under: a.under, Caller: tell.Caller{Ctx: a.ctx}}
	a.io.Store(b)
	return b
}

// Header implements http.ResponseWriter. Until the handler calls it, neither this package nor
// net/http has a header to copy.
func (a *answer) Header() http.Header {
	h := a.under.Header()
	if !a.asked {
		a.asked = true
		a.before.take(h)
		if a.status != 0 {
			a.header.take(h)
		}
	}
	return h
}

// WriteHeader implements http.ResponseWriter. It sends informational responses at once and holds
// back all other responses.
func (a *answer) WriteHeader(status int) {
	switch {
	case a.hijacked:
		a.complain("response.WriteHeader on hijacked connection")
	case a.status != 0:
		if status == http.StatusInternalServerError {
			// The handler is recovering: its earlier response is incomplete.
			a.late = false
		}
		a.complain("superfluous response.WriteHeader call")
	case status < 100 || status > 999:
		a.under.WriteHeader(status) // it panics
	case status < 200 && status != http.StatusSwitchingProtocols:
		a.blocking().write(0, func() error { a.inform(status); return nil })
	default:
		a.decide(status)
		if a.exposed {
			a.send()
		}
	}
}

// Write implements io.Writer.
func (a *answer) Write(p []byte) (int, error) {
	if !a.fits(len(p)) {
		return a.pass(len(p), func() (int, error) { return a.put(p) })
	}
	a.held = append(a.held, p...)
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (a *answer) WriteString(s string) (int, error) {
	if !a.fits(len(s)) {
		return a.pass(len(s), func() (int, error) {
			if a.unframed() {
				return a.put([]byte(s))
			}
			return io.WriteString(a.under, s)
		})
	}
	a.held = append(a.held, s...)
	return len(s), nil
}

// fits makes room for n bytes. It reports false if the bytes must be passed on instead, because
// they are too many or because the underlying writer has an error to return for them.
func (a *answer) fits(n int) bool {
	if a.status == 0 && !a.hijacked {
		a.decide(http.StatusOK)
	}
	a.written += int64(n)
	a.wrote()
	tooMuch := a.length >= 0 && a.written > a.length
	if a.hijacked || a.exposed || a.err != nil || tooMuch || !bodyAllowed(a.status) {
		return false
	}
	if len(a.held)+n > a.room() {
		if n > a.room() {
			return false
		}
		if err := a.blocking().write(n, a.send); err != nil {
			a.lose(err)
			return false
		}
	}
	a.hold()
	return true
}

// room is how many bytes are held back at most.
func (a *answer) room() int {
	switch {
	case !a.sent:
		return holdSize
	case a.passed <= sentAt:
		return firstPart
	}
	return partSize
}

// hold gets the buffer for the bytes held back. Between the first parts of the response and the
// later ones, when the buffer is empty, it changes to the larger one.
func (a *answer) hold() {
	pool := holds
	if a.passed > sentAt {
		pool = parts
	}
	if a.pool != pool {
		a.release()
		a.pool, a.buffer = pool, pool.Get().(*[]byte)
		a.held = *a.buffer
	}
}

// pass sends the held bytes, and then calls write for the given number of bytes.
func (a *answer) pass(bytes int, write func() (int, error)) (n int, err error) {
	if a.hijacked {
		if bytes > 0 {
			a.complain("response.Write on hijacked connection")
		}
		return 0, http.ErrHijacked
	}
	err = a.blocking().write(bytes, func() error {
		if err := a.send(); err != nil {
			return err
		}
		n, err = write()
		a.passed += int64(n)
		return err
	})
	if err != nil && bytes > 0 {
		a.lose(err)
	}
	return n, err
}

// lose records that a write of the handler failed.
func (a *answer) lose(err error) {
	a.lost = true
	if p, ok := err.(*cocoon.PreemptedError); ok && inside.Inserted(a.ctx) {
		a.lostTo = p
	}
}

// wrote tells the runtime of a write, if that may matter.
func (a *answer) wrote() {
	if inside.Inserts.Load() {
		inside.Wrote(a.ctx)
	}
}

func (a *answer) release() {
	if a.buffer != nil {
		a.pool.Put(a.buffer)
	}
	a.pool, a.buffer, a.held = nil, nil, nil
}
