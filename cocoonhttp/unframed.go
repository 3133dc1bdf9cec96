package cocoonhttp

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
)

// endsWithConnection reports whether the end of the connection marks the end of the response's
// body, so that the client would take a cut for the end. This holds for HTTP/1.0, and for handlers
// that turn chunked encoding off.
func (r *heldResponse) endsWithConnection() bool {
	if r.request == nil || r.request.ProtoMajor != 1 {
		return false
	}
	if r.request.ProtoMinor == 0 {
		return true
	}
	// Get would make the key canonical first, which costs more than the rest of a small write.
	coding := r.under.Header()["Transfer-Encoding"]
	return len(coding) > 0 && coding[0] == "identity"
}

// reset ends the connection by a reset, which no client takes for the end of a response.
func (r *heldResponse) reset() {
	c, _, err := r.control().Hijack()
	if err != nil {
		return // a surrounding writer does not support it; the server closes the connection
	}
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn() // without the close_notify alert, which would mark a clean end
	}
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

// unframed reports whether only the end of the connection tells where the response ends.
func (r *heldResponse) unframed() bool { return r.length < 0 && r.endsWithConnection() }

// put writes to the underlying writer. When a write fails, for example because a throw cut it off,
// net/http closes the connection. For a client, this is the end of an unframed response, and the
// connection can no longer be reset. net/http does not close the connection if the failing call is
// ReadFrom or Flush, so put uses these.
func (r *heldResponse) put(p []byte) (n int, err error) {
	if !r.unframed() {
		return r.under.Write(p)
	}
	if from, ok := r.under.(io.ReaderFrom); ok && r.request.TLS == nil {
		copied, err := from.ReadFrom(bytes.NewReader(p))
		return int(copied), err
	}
	for n < len(p) && err == nil {
		var wrote int
		if wrote, err = r.under.Write(p[n:min(n+holdSize, len(p))]); err == nil {
			// http.TimeoutHandler and some other surrounding writers cannot flush.
			if err = r.control().Flush(); errors.Is(err, http.ErrNotSupported) {
				err = nil
			}
		}
		n += wrote
	}
	return n, err
}
