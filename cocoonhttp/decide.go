package cocoonhttp

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// decide fixes the status and the header, as WriteHeader does: later changes to the header count
// for trailers only.
func (a *answer) decide(status int) {
	a.status, a.length = status, -1
	p := tell.Thrown(a.ctx)
	a.early, a.late = p == nil, a.recovered(p)
	if a.asked {
		a.header.take(a.under.Header())
		if declared := a.header.get("Content-Length"); declared != "" {
			if n, err := strconv.ParseInt(declared, 10, 64); err == nil && n >= 0 {
				a.length = n
			}
		}
	}
	if !bodyAllowed(status) {
		a.length = 0
	}
}

// recovered reports whether the handler has recovered the throw, as far as the middleware can tell.
// A deferred function that completes the response while the throw unwinds does not count, nor does
// another goroutine at that time, nor a handler that got the throw as the error of a call. A
// deferred function that calls recover still counts as unwinding until it returns, so its status
// has to tell it apart: 400 or above for an error response, below 400 for an incomplete one.
func (a *answer) recovered(p *cocoon.PreemptedError) bool {
	if !hit(p) || cocoon.Thrown(a.ctx) == nil || a.tells(p) {
		return false
	}
	return a.status >= 400 || !goroutine.Unwinding()
}

// tells reports whether a call has returned the throw.
func (a *answer) tells(p *cocoon.PreemptedError) bool {
	b := a.io.Load()
	return b != nil && b.Told(p)
}

// whole reports whether the handler decided before any throw, and has since written as many bytes
// as its header declares. A trailer is decided after the body, so the length does not tell whether
// the trailer is complete.
func (a *answer) whole() bool {
	return a.early && !a.lost && a.written == a.length && !a.trails()
}

// trails reports whether a trailer follows the body, either announced in the header or set by the
// handler since. In HTTP/1 a body of declared length has no trailer.
func (a *answer) trails() bool {
	if !a.asked || a.request.ProtoMajor < 2 {
		return false
	}
	if a.header.get("Trailer") != "" {
		return true
	}
	for name := range a.under.Header() {
		if strings.HasPrefix(name, http.TrailerPrefix) {
			return true
		}
	}
	return false
}

// bodyAllowed reports whether responses with the status have a body.
func bodyAllowed(status int) bool {
	return status >= 200 && status != http.StatusNoContent && status != http.StatusNotModified
}
