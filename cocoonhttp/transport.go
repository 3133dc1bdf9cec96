package cocoonhttp

import (
	"context"
	"io"
	"net/http"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// Transport is an http.RoundTripper for requests that tasks make. If the request's context carries
// a task, the task gives its slot back during the call and while it reads the response's body.
// Without a task in the context, Transport behaves as its Base.
//
// A throw does not unwind the client's code. If a throw is due before the call, the call returns it
// as its error, a *cocoon.PreemptedError inside an *url.Error. If the throw comes during the call,
// it ends the call by the request's context, and unwinds the task at its next safe point. Reads of
// the body are not safe points: they return the throw as their error, too, when it has ended the
// request's context. A loop that ignores errors is unwound when calls have returned the throw eight
// times.
type Transport struct {
	Base http.RoundTripper // nil: http.DefaultTransport
}

func (t *Transport) base() http.RoundTripper {
	if t.Base == nil {
		return http.DefaultTransport
	}
	return t.Base
}

// RoundTrip implements http.RoundTripper.
func (t *Transport) RoundTrip(r *http.Request) (resp *http.Response, err error) {
	ctx := r.Context()
	if cocoon.TaskOf(ctx) == nil {
		return t.base().RoundTrip(r)
	}
	called := false
	err = cocoon.BlockCall(ctx, func() (err error) {
		if p := tell.Thrown(ctx); p != nil && ctx.Err() != nil {
			return p
		}
		called = true
		resp, err = t.base().RoundTrip(r)
		return err
	})
	switch {
	case !called:
		if r.Body != nil {
			r.Body.Close() // a RoundTripper must do that, even if it returns an error
		}
		err = inside.Insist(ctx, err)
	case resp != nil && resp.Body != nil && resp.Body != http.NoBody:
		resp.Body = received(ctx, resp.Body)
	}
	return resp, err
}

// CloseIdleConnections is for http.Client.CloseIdleConnections.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// received wraps the body of a response. The body of a response that switches protocols can be
// written too.
func received(ctx context.Context, b io.ReadCloser) io.ReadCloser {
	in := &incoming{ReadCloser: b, caller: tell.Caller{Ctx: ctx}, slow: true}
	if w, ok := b.(io.Writer); ok {
		in.waits = true // mostly, for messages
		return &duplex{in, w}
	}
	return in
}

// incoming is the body of a response. Most of it has arrived when it is read, and comes piece by
// piece from a buffer. If each read gave the slot back, the task would wait for its slot at each
// piece. So, as with the rows of package cocoonsql, only the first read and each read after a slow
// one give the slot back. The runtime detects a wait in another read, and the end of the context
// ends it.
type incoming struct {
	io.ReadCloser
	caller tell.Caller
	waits  bool // every read counts as slow
	slow   bool // the previous read was slow, or there was none
	quick  int  // how many reads in a row have kept the slot
}

const (
	slowRead = 50 * time.Microsecond // the least time after which a read counts as waited for

	// quickReads is how many reads in a row may keep the slot. The next one returns a due throw,
	// even if the throw is one into a section and ends no context.
	quickReads = 64
)

// Read implements io.Reader. If a throw is due, it reads until the throw ends the context, because
// most responses are complete by then, and the connection can be used again. With a context that
// does not end with the task, it always reads: clean-up may ask a server, and needs the response.
func (b *incoming) Read(p []byte) (n int, err error) {
	read := func() error {
		begin := time.Now()
		n, err = b.ReadCloser.Read(p)
		b.slow = b.waits || time.Since(begin) >= slowRead
		return err
	}
	if b.slow || b.quick == quickReads {
		b.quick = 0
		err = inside.CallToEnd(b.caller.Ctx, read)
	} else {
		b.quick++
		err = read()
	}
	err = b.caller.Blame(err)
	return n, err
}

// duplex is the body of a response that switched protocols.
type duplex struct {
	*incoming
	w io.Writer
}

// Write implements io.Writer.
func (d *duplex) Write(p []byte) (n int, err error) {
	err = d.caller.Call(func() error {
		n, err = d.w.Write(p)
		return err
	})
	return n, err
}

// CloseWrite closes the sending direction, to the server.
func (d *duplex) CloseWrite() error {
	return d.caller.Call(func() error { return closeWrite(d.w) })
}
