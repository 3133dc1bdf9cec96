package cocoonhttp

import (
	"context"
	"io"
	"net/http"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// Transport is an http.RoundTripper for requests that tasks make. If the request's context carries
// a task, the task gives its slot back during the call and while it reads the response's body.
// Without a task in the context, Transport behaves as its Base.
//
// A throw does not unwind the client's code. If a throw is due before the call, the call returns it
// as its error, a *cocoon.PreemptedError inside an *url.Error. If the throw comes during the call,
// it ends the call by the request's context, and unwinds the task at its next safe point. Reads of
// the body are not safe points: they return the throw as their error too.
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
	case !called && r.Body != nil:
		r.Body.Close() // a RoundTripper must do that, even if it returns an error
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
	in := &incoming{ReadCloser: b, caller: tell.Caller{Ctx: ctx}}
	if w, ok := b.(io.Writer); ok {
		return &duplex{in, w}
	}
	return in
}

// incoming is the body of a response.
type incoming struct {
	io.ReadCloser
	caller tell.Caller
}

// Read implements io.Reader.
func (b *incoming) Read(p []byte) (n int, err error) {
	err = b.caller.Call(func() error {
		n, err = b.ReadCloser.Read(p)
		return err
	})
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
