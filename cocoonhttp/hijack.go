package cocoonhttp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/cocoon"
)

// hijacked is a connection that a handler has taken over from the server. Its task gives the slot
// back while it reads and writes, and a throw into the task ends them; goroutines that the handler
// starts use it as any connection.
type hijacked struct {
	net.Conn
	ctx  context.Context // the task's
	told atomic.Bool     // of the throw
}

// takeOver wraps a connection, and the server's buffers of it. What they hold stays in them.
func takeOver(ctx context.Context, c net.Conn, buffered *bufio.ReadWriter) (net.Conn, *bufio.ReadWriter) {
	h := &hijacked{Conn: c, ctx: ctx}
	context.AfterFunc(ctx, func() {
		if thrown(ctx) != nil {
			c.SetDeadline(longAgo)
		}
	})
	n := buffered.Reader.Buffered()
	early, _ := buffered.Reader.Peek(n)
	r := bufio.NewReaderSize(io.MultiReader(bytes.NewReader(bytes.Clone(early)), h), max(4096, n))
	r.Peek(n) // into its buffer: handlers ask how much there is
	return h, bufio.NewReadWriter(r, bufio.NewWriter(h))
}

// Read implements io.Reader.
func (h *hijacked) Read(p []byte) (n int, err error) {
	err = h.call(func() error {
		n, err = h.Conn.Read(p)
		return err
	})
	return n, err
}

// Write implements io.Writer.
func (h *hijacked) Write(p []byte) (n int, err error) {
	err = h.call(func() error {
		n, err = h.Conn.Write(p)
		return err
	})
	return n, err
}

// call calls fn while the task's slot is given to others. A throw is its error, because packages
// for web sockets hold locks around their writes, and release them without defer. A handler that
// goes on regardless is thrown into at the next call.
func (h *hijacked) call(fn func() error) error {
	if h.told.Load() {
		cocoon.SafePoint(h.ctx)
	}
	err := cocoon.BlockCall(h.ctx, fn)
	if err != nil {
		if p := thrown(h.ctx); p != nil {
			h.told.Store(true)
			return p
		}
	}
	return err
}

// CloseWrite closes the direction to the client, as that of a *net.TCPConn or a *tls.Conn does.
func (h *hijacked) CloseWrite() error {
	return h.call(func() error { return closeWrite(h.Conn) })
}

// closeWrite closes one direction of a connection that can do that.
func closeWrite(c any) error {
	if c, ok := c.(interface{ CloseWrite() error }); ok {
		return c.CloseWrite()
	}
	return fmt.Errorf("cocoonhttp: CloseWrite of a %T: %w", c, http.ErrNotSupported)
}

// NetConn returns the connection itself, as that of a *tls.Conn does.
func (h *hijacked) NetConn() net.Conn { return h.Conn }
