package cocoonhttp

import (
	"io"
	"net/http"
	"strings"
	"time"
)

// drop discards what the handler wrote, and its changes to the header.
func (r *heldResponse) drop() {
	r.release()
	if r.asked {
		r.before.restore(r.under.Header())
	}
}

// last makes the server close the connection after the response, but not before the client has had
// time to read it.
func (r *heldResponse) last() {
	lingers(r.under)
	r.Header().Set("Connection", "close")
	if r.status != 0 {
		r.header.set("Connection", "close")
	}
}

// lingers makes net/http's server wait a moment before it closes the connection: if the client sent
// more after the close, the connection would be reset and the response lost. The server waits after
// it has given up on a body itself, and after http.MaxBytesReader tells it that a body is too long;
// so lingers uses a http.MaxBytesReader.
func lingers(w http.ResponseWriter) {
	http.MaxBytesReader(innermost(w), io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}

// innermost unwraps the writers of surrounding middleware, as far as they allow it. Normally it
// returns the writer of net/http's server.
func innermost(w http.ResponseWriter) http.ResponseWriter {
	for {
		around, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			return w
		}
		w = around.Unwrap()
	}
}

// mistaken reports whether a surrounding writer may have taken an informational response for the
// final one, as http.TimeoutHandler's writer does: then the status of a refusal would become 200.
func (r *heldResponse) mistaken() bool {
	if !r.informed {
		return false
	}
	_, servers := innermost(r.under).(interface{ SetReadDeadline(time.Time) error })
	return !servers
}

// abort ends a response of which some may have been sent, in a way that shows the client that the
// response is incomplete. No surrounding middleware can turn it into a complete one: middleware
// that recovers the panic finds that its writes fail.
func (r *heldResponse) abort() {
	r.leaveBody()
	r.begin()
	r.control().SetWriteDeadline(longAgo)
	if r.endsWithConnection() {
		r.reset()
	}
	panic(http.ErrAbortHandler)
}

// begin sends the first bytes if they may still be in the buffers of net/http or of a surrounding
// middleware. A client that gets nothing at all on a connection that it has used before takes this
// for the end of an idle connection, and sends its request again by itself: a stopped request would
// run twice.
func (r *heldResponse) begin() {
	if !r.sent || r.exposed || r.err != nil || r.request.ProtoMajor != 1 || r.endsWithConnection() {
		return
	}
	if r.passed > mayKeep && innermost(r.under) == r.under {
		return
	}
	if c := r.control(); c.SetWriteDeadline(time.Now().Add(arrived)) == nil { // the client may not read
		c.Flush()
	}
}

// leaveBody ends all reads of the request's body, when the connection will not be used again: the
// server would otherwise wait for the rest of the body before it closes the connection. A goroutine
// that the handler has left behind may be in a read, and learns of the deadline only when it gets a
// processor. Until then the server would wait for it, take the deadline back, and wait for the
// client. Close waits for that goroutine, too, but leaves the deadline as it is.
func (r *heldResponse) leaveBody() {
	if r.control().SetReadDeadline(longAgo) == nil && r.request.ProtoMajor == 1 && r.request.Body != nil {
		r.request.Body.Close()
	}
}

// settleBody reads the rest of a body that the server has left to the handler, if the rest has
// arrived. If not, the connection ends after the response: the client may wait for the end of the
// response before it sends the rest, and the server must not read it later (see closeBody).
func (e *exchange) settleBody() {
	b := e.request.Body
	if !e.duplex || e.request.ProtoMajor != 1 || e.body == nil || e.body.drained.Load() || e.request.Header.Get("Expect") != "" {
		return
	}
	if e.control().SetReadDeadline(time.Now().Add(arrived)) != nil {
		e.closeBody()
		return
	}
	_, err := io.CopyN(io.Discard, b, mostUnread)
	deadline := time.Time{}
	if err == io.EOF {
		// net/http waits for the next request without a deadline by now. It would take the end of
		// the deadline for the client's departure, and end the contexts of all later requests.
		e.control().SetReadDeadline(deadline)
		return
	}
	if s, ok := e.request.Context().Value(http.ServerContextKey).(*http.Server); ok && s.ReadTimeout > 0 {
		deadline = time.Now().Add(s.ReadTimeout)
	}
	e.control().SetReadDeadline(deadline)
	lingers(e.under)
}

const (
	// arrived is how long settleBody waits for bytes that have arrived, and begin for room to send.
	// The end of the response waits, too.
	arrived = 10 * time.Millisecond

	// mostUnread is how much of an unread body net/http's server reads to reuse a connection.
	mostUnread = 256 << 10
)

// closeBody closes the request's body, which may be unread. The server normally does that before it
// responds. In full duplex mode, however, it closes the body at the very end, and looks for the
// next request in a goroutine that reads concurrently with the next request's own readers
// (golang/go#68560). The readers panic, and nothing recovers the panic. If the client waits for
// "100 Continue", the server never reuses the connection.
func (e *exchange) closeBody() {
	if b := e.request.Body; e.request.ProtoMajor == 1 && b != nil && b != http.NoBody && e.request.Header.Get("Expect") == "" {
		b.Close()
	}
}
