package cocoonhttp

import (
	"context"
	"io"
	"net"
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

	// sentAt is how many bytes in small writes net/http needs before it sends the first of them.
	sentAt = 4096

	// mayKeep is how many bytes net/http keeps in its two buffers at most. A large write bypasses
	// the first buffer, and fills the second before the first.
	mayKeep = 2048 + 4096

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

// heldResponse is the response of a handler that runs as a task. It holds back the status and the
// first bytes, so that a throw can still replace the response, and so that a small response costs
// no Block. Like every http.ResponseWriter, it is used by one goroutine at a time; the writer's
// lock keeps a goroutine that a throw has left behind apart from the end of the exchange.
type heldResponse struct {
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
	lostTo  error      // the throw that caused it, if the handler may not know of its section
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
	conn     net.Conn // the hijacked connection
}

// blocking returns the state of the task's blocking reads and writes.
func (r *heldResponse) blocking() *blocking {
	if b := r.io.Load(); b != nil {
		return b
	}
	b := &blocking{under: r.under, Caller: tell.Caller{Ctx: r.ctx}}
	if !r.io.CompareAndSwap(nil, b) { // a goroutine sets a deadline
		return r.io.Load()
	}
	return b
}

// Header implements http.ResponseWriter. Until the handler calls it, neither this package nor
// net/http has a header to copy.
func (r *heldResponse) Header() http.Header {
	h := r.under.Header()
	if !r.asked {
		r.asked = true
		r.before.take(h)
		if r.status != 0 {
			r.header.take(h)
		}
	}
	return h
}

// WriteHeader implements http.ResponseWriter. It sends informational responses at once and holds
// back all other responses.
func (r *heldResponse) WriteHeader(status int) {
	switch {
	case r.hijacked:
		r.complain("response.WriteHeader on hijacked connection")
	case r.status != 0:
		if status == http.StatusInternalServerError {
			// The handler is recovering: its earlier response is incomplete.
			r.late = false
		}
		r.complain("superfluous response.WriteHeader call")
	case status < 100 || status > 999:
		r.under.WriteHeader(status) // it panics
	case status < 200 && status != http.StatusSwitchingProtocols:
		r.blocking().write(0, func() error { r.inform(status); return nil })
	default:
		r.decide(status)
		if r.exposed {
			r.send()
		}
	}
}

// Write implements io.Writer.
func (r *heldResponse) Write(p []byte) (int, error) {
	if !r.fits(len(p)) {
		return r.pass(len(p), func() (int, error) { return r.put(p) })
	}
	r.held = append(r.held, p...)
	return len(p), nil
}

// WriteString implements io.StringWriter.
func (r *heldResponse) WriteString(s string) (int, error) {
	if !r.fits(len(s)) {
		return r.pass(len(s), func() (int, error) {
			if r.unframed() {
				return r.put([]byte(s))
			}
			return io.WriteString(r.under, s)
		})
	}
	r.held = append(r.held, s...)
	return len(s), nil
}

// fits makes room for n bytes. It reports false if the bytes must be passed on instead, because
// they are too many or because the underlying writer has an error to return for them.
func (r *heldResponse) fits(n int) bool {
	if r.status == 0 && !r.hijacked {
		r.decide(http.StatusOK)
	}
	r.written += int64(n)
	r.wrote()
	tooMuch := r.length >= 0 && r.written > r.length
	if r.hijacked || r.exposed || r.err != nil || tooMuch || !bodyAllowed(r.status) {
		return false
	}
	if len(r.held)+n > r.room() {
		if n > r.room() {
			return false
		}
		if err := r.blocking().write(n, r.send); err != nil {
			r.lose(err)
			return false
		}
	}
	r.hold()
	return true
}

// room is how many bytes are held back at most.
func (r *heldResponse) room() int {
	switch {
	case !r.sent:
		return holdSize
	case r.passed <= sentAt:
		return firstPart
	}
	return partSize
}

// hold gets the buffer for the bytes held back. Between the first parts of the response and the
// later ones, when the buffer is empty, it changes to the larger one.
func (r *heldResponse) hold() {
	pool := holds
	if r.passed > sentAt {
		pool = parts
	}
	if r.pool != pool {
		r.release()
		r.pool, r.buffer = pool, pool.Get().(*[]byte)
		r.held = *r.buffer
	}
}

// pass sends the held bytes, and then calls write for the given number of bytes.
func (r *heldResponse) pass(bytes int, write func() (int, error)) (n int, err error) {
	if r.hijacked {
		if bytes > 0 {
			r.complain("response.Write on hijacked connection")
		}
		return 0, http.ErrHijacked
	}
	err = r.blocking().write(bytes, func() error {
		if err := r.send(); err != nil {
			return err
		}
		n, err = write()
		r.passed += int64(n)
		return err
	})
	if err != nil && bytes > 0 {
		r.lose(err)
	}
	return n, err
}

// lose records that a write of the handler failed.
func (r *heldResponse) lose(err error) {
	r.lost = true
	if p, ok := err.(*cocoon.PreemptedError); ok && inside.Inserted(r.ctx) {
		r.lostTo = p
	}
}

// wrote tells the runtime of a write, if that may matter.
func (r *heldResponse) wrote() {
	if inside.Inserts.Load() {
		inside.Wrote(r.ctx)
	}
}

func (r *heldResponse) release() {
	if r.buffer != nil {
		r.pool.Put(r.buffer)
	}
	r.pool, r.buffer, r.held = nil, nil, nil
}
