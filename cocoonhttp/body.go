package cocoonhttp

import (
	"io"
	"net/http"
	"sync/atomic"
)

// body is a request's body. Each read gives the slot back, even if the read turns out fast, because
// its duration is up to the client.
type body struct {
	io.ReadCloser
	io      *blocking
	drained atomic.Bool

	// server is the server's request, which gets the trailer; handler is the handler's copy.
	server, handler *http.Request
}

// Read implements io.Reader.
func (b *body) Read(p []byte) (n int, err error) {
	err = b.io.read(func() (more bool, err error) {
		n, err = b.ReadCloser.Read(p)
		b.drained.Store(err != nil)
		return err == nil, err
	})
	if err == io.EOF && b.handler.Trailer == nil {
		b.handler.Trailer = b.server.Trailer
	}
	return n, err
}

// Close implements io.Closer. The server reads the rest of the body, to reuse the connection.
func (b *body) Close() (err error) {
	if b.drained.Load() {
		return b.ReadCloser.Close()
	}
	return b.io.read(func() (more bool, err error) {
		err = b.ReadCloser.Close()
		b.drained.Store(true)
		return false, err
	})
}
