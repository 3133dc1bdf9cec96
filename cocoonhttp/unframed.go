package cocoonhttp

import (
	"bytes"
	"crypto/tls"
	"io"
	"net"
)

// endsWithConnection reports whether the end of the connection is the end of the answer's body, so
// that the client would take the one for the other: that of HTTP/1.0, and that of a handler which
// wants no chunks.
func (a *answer) endsWithConnection() bool {
	if a.request == nil || a.request.ProtoMajor != 1 {
		return false
	}
	return a.request.ProtoMinor == 0 || a.under.Header().Get("Transfer-Encoding") == "identity"
}

// reset ends the connection by a reset, which no client takes for an end.
func (a *answer) reset() {
	c, _, err := a.control().Hijack()
	if err != nil {
		return // a writer around that cannot do it; the server closes the connection
	}
	if t, ok := c.(*tls.Conn); ok {
		c = t.NetConn() // without the alert that tells a whole one
	}
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

// unframed reports whether nothing but the end of the connection tells where the answer ends.
func (a *answer) unframed() bool { return a.length < 0 && a.endsWithConnection() }

// put writes to the writer below. When a write fails, as one does that a throw cuts off, net/http
// closes the connection: to a client that is the end of an answer without frames, and there is
// nothing left to reset. It does not close it where it has a source to copy from, or flushes.
func (a *answer) put(p []byte) (n int, err error) {
	if !a.unframed() {
		return a.under.Write(p)
	}
	if from, ok := a.under.(io.ReaderFrom); ok && a.request.TLS == nil {
		copied, err := from.ReadFrom(bytes.NewReader(p))
		return int(copied), err
	}
	for n < len(p) && err == nil {
		var wrote int
		if wrote, err = a.under.Write(p[n:min(n+holdSize, len(p))]); err == nil {
			err = a.control().Flush()
		}
		n += wrote
	}
	return n, err
}
