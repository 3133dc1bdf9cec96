package cocoonhttp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// hijacked is a connection that a handler has taken over from the server. Its task gives the slot
// back while it reads and writes, and a throw into the task ends these calls. Goroutines that the
// handler starts use it like any connection. A TCP connection is a hijackedTCP.
type hijacked struct {
	net.Conn
	caller tell.Caller

	mu  sync.Mutex
	cut bool // a throw has ended the context, and the calls that wait; guarded by mu
}

// takeOver wraps a connection and the server's buffers for it. The buffers keep their content.
func takeOver(ctx context.Context, c net.Conn, buffered *bufio.ReadWriter) (net.Conn, *bufio.ReadWriter) {
	h := &hijacked{Conn: c, caller: tell.Caller{Ctx: ctx}}
	context.AfterFunc(ctx, h.interrupt)
	n := buffered.Reader.Buffered()
	early, _ := buffered.Reader.Peek(n)
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(early)), h), max(4096, n))
	r.Peek(n) // into its buffer: handlers check Buffered
	if tcp, ok := c.(*net.TCPConn); ok {
		t := &hijackedTCP{TCPConn: tcp, calls: h}
		return t, bufio.NewReadWriter(r, bufio.NewWriter(t))
	}
	return h, bufio.NewReadWriter(r, bufio.NewWriter(h))
}

// interrupt is called when the task's context has ended.
func (h *hijacked) interrupt() {
	if tell.Thrown(h.caller.Ctx) != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.cut = true
		h.Conn.SetDeadline(longAgo)
	}
}

// SetDeadline implements net.Conn.
func (h *hijacked) SetDeadline(t time.Time) error { return h.setDeadline(h.Conn.SetDeadline, t) }

// SetReadDeadline implements net.Conn.
func (h *hijacked) SetReadDeadline(t time.Time) error {
	return h.setDeadline(h.Conn.SetReadDeadline, t)
}

// SetWriteDeadline implements net.Conn.
func (h *hijacked) SetWriteDeadline(t time.Time) error {
	return h.setDeadline(h.Conn.SetWriteDeadline, t)
}

// setDeadline sets a deadline, unless a throw has cut the calls off: another goroutine of the
// handler would take the cut back before a waiting call has noticed it. Clean-up may set deadlines.
func (h *hijacked) setDeadline(set func(time.Time) error, t time.Time) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.cut && !goroutine.Unwinding() {
		return tell.Thrown(h.caller.Ctx)
	}
	return set(t)
}

// Read implements io.Reader.
func (h *hijacked) Read(p []byte) (n int, err error) {
	err = h.caller.Call(func() error {
		n, err = h.Conn.Read(p)
		return err
	})
	return n, err
}

// Write implements io.Writer.
func (h *hijacked) Write(p []byte) (n int, err error) {
	err = h.caller.CallBriefly(func() error {
		n, err = h.Conn.Write(p)
		return err
	})
	return n, err
}

// CloseWrite closes the sending direction, to the client, as the methods of *net.TCPConn and
// *tls.Conn do.
func (h *hijacked) CloseWrite() error {
	return h.caller.Call(func() error { return closeWrite(h.Conn) })
}

// closeWrite closes the sending direction of a connection that has a CloseWrite method.
func closeWrite(c any) error {
	if c, ok := c.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return fmt.Errorf("cocoonhttp: CloseWrite of a %T: %w", c, http.ErrNotSupported)
}

// NetConn returns the underlying connection, as the method of *tls.Conn does.
func (h *hijacked) NetConn() net.Conn { return h.Conn }
