package cocoonhttp

import (
	"io"
	"net/http"
	"strings"
)

// drop forgets what the handler wrote and did to the header.
func (a *answer) drop() {
	a.release()
	if a.asked {
		a.before.restore(a.under.Header())
	}
}

// last has the server close the connection behind the answer, but not before the client can have
// read it.
func (a *answer) last() {
	lingers(a.under)
	a.Header().Set("Connection", "close")
	if a.status != 0 {
		a.header.set("Connection", "close")
	}
}

// lingers has net/http's server wait a moment before it closes the connection: what a client goes
// on to send would reset it, and lose the answer. The server does that where it has given up a body
// itself, and where http.MaxBytesReader tells it that a body is too long; so one does.
func lingers(w http.ResponseWriter) {
	for {
		around, ok := w.(interface{ Unwrap() http.ResponseWriter })
		if !ok {
			break
		}
		w = around.Unwrap()
	}
	http.MaxBytesReader(w, io.NopCloser(strings.NewReader("x")), 0).Read(make([]byte, 1))
}

// abort ends an answer of which some may have been sent, so that the client can tell that it is no
// whole one. No middleware around can make one of it: what recovers the panic finds that nothing
// can be written any more.
func (a *answer) abort() {
	a.control().SetReadDeadline(longAgo) // or the server would wait for the rest of the body first
	a.control().SetWriteDeadline(longAgo)
	if a.endsWithConnection() {
		a.reset()
	}
	panic(http.ErrAbortHandler)
}

// settleBody closes a body that the server has left to the handler, when the answer is complete.
// What the client is told goes out before, for it may wait for that before it sends the rest.
func (e *exchange) settleBody() {
	if e.duplex && (e.body == nil || !e.body.drained.Load()) {
		e.control().Flush()
		e.closeBody()
	}
}

// closeBody closes the request's body, of which nobody may have read anything. The server does that
// before it answers, but not where reading and writing may go on side by side: there it comes to
// that at the very end, and begins to look for the next request in a goroutine that reads beside
// the next request's own readers (golang/go#68560). They panic, where nobody recovers it. Of a
// client that waits to be told to go on the server never uses the connection again.
func (e *exchange) closeBody() {
	if b := e.request.Body; e.request.ProtoMajor == 1 && b != nil && b != http.NoBody && e.request.Header.Get("Expect") == "" {
		b.Close()
	}
}
