package cocoonhttp

import (
	"context"
	"io"
	"net/http"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// Transport is an http.RoundTripper for requests that tasks make: a task, which the request's
// context carries, gives its slot back during the call and while it reads the answer's body.
// Without a task in the context it is its Base.
//
// A throw does not unwind the client's code: one that is due before the call is its error, a
// *cocoon.PreemptedError inside an *url.Error; one that comes during the call ends it by the
// request's context, and unwinds the task at its next safe point. The reads of the body are none:
// they return the throw as their error too.
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
func (t *Transport) RoundTrip(r *http.Request) (answer *http.Response, err error) {
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
		answer, err = t.base().RoundTrip(r)
		return err
	})
	switch {
	case !called && r.Body != nil:
		r.Body.Close() // a RoundTripper does that, also when it errs
	case answer != nil && answer.Body != nil && answer.Body != http.NoBody:
		answer.Body = received(ctx, answer.Body)
	}
	return answer, err
}

// CloseIdleConnections is for http.Client.CloseIdleConnections.
func (t *Transport) CloseIdleConnections() {
	if c, ok := t.base().(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

// received wraps the body of an answer. That of a switch of protocols can also be written.
func received(ctx context.Context, b io.ReadCloser) io.ReadCloser {
	in := &incoming{ReadCloser: b, caller: tell.Caller{Ctx: ctx}}
	if w, ok := b.(io.Writer); ok {
		return &duplex{in, w}
	}
	return in
}

// incoming is the body of an answer.
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

// duplex is the body of an answer that switched protocols.
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

// CloseWrite closes the direction to the server.
func (d *duplex) CloseWrite() error {
	return d.caller.Call(func() error { return closeWrite(d.w) })
}
