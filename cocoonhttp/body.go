package cocoonhttp

import (
	"io"
	"net/http"
	"sync/atomic"
)

// body is a request's body. A read gives the slot back always, and not only once it turns out slow,
// because the client decides how slow.
type body struct {
	io.ReadCloser
	io      *blocking
	drained atomic.Bool

	// Whose body it is: the server's request, which gets the trailer, and the handler's.
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

// Close implements io.Closer. The server reads what is left, to use the connection again.
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
