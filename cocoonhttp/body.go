package cocoonhttp

import (
	"io"
	"net/http"
	"sync/atomic"
)

// body is a request's body. Each read may give the slot back, because its duration is up to the
// client. But small reads seldom wait: the server reads serverBuffer bytes at a time, and the
// handler then gets them piece by piece. If a task gave its slot up for each piece, a handler that
// reads byte by byte would change places with another task for each byte on a busy server. So after
// a small read that got all it asked for, the next one is a brief call. So are all reads of a small
// body: usually the server has read it along with the header, and a task that gave its slot up
// would wait for one twice.
type body struct {
	io.ReadCloser
	io      *blocking
	small   bool // the request declares a length of at most serverBuffer
	drained atomic.Bool
	more    atomic.Bool // the server probably has more bytes in its buffer

	// server is the server's request, which gets the trailer; handler is the handler's copy.
	server, handler *http.Request
}

// serverBuffer is the size of the buffer through which net/http's server reads a connection. Larger
// reads go past it.
const serverBuffer = 4 << 10

// Read implements io.Reader.
func (b *body) Read(p []byte) (n int, err error) {
	call := b.io.Call
	if b.small || len(p) < serverBuffer && b.more.Load() {
		call = b.io.CallBriefly
	}
	err = b.io.read(call, func() (more bool, err error) {
		n, err = b.ReadCloser.Read(p)
		b.drained.Store(err != nil)
		b.more.Store(n == len(p))
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
	return b.io.read(b.io.Call, func() (more bool, err error) {
		err = b.ReadCloser.Close()
		b.drained.Store(true)
		return false, err
	})
}
