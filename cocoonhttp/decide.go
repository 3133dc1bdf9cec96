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
func (r *heldResponse) decide(status int) {
	r.status, r.length = status, -1
	p := tell.Thrown(r.ctx)
	r.early, r.late = p == nil, r.recovered(p)
	if r.asked {
		r.header.take(r.under.Header())
		if declared := r.header.get("Content-Length"); declared != "" {
			if n, err := strconv.ParseInt(declared, 10, 64); err == nil && n >= 0 {
				r.length = n
			}
		}
	}
	if !bodyAllowed(status) {
		r.length = 0
	}
}

// recovered reports whether the handler has recovered the throw, as far as the middleware can tell.
// A deferred function that completes the response while the throw unwinds does not count, nor does
// another goroutine at that time, nor a handler that got the throw as the error of a call. A
// deferred function that calls recover still counts as unwinding until it returns, so its status
// has to tell it apart: 400 or above for an error response, below 400 for an incomplete one. A
// template that recovers the throw does not count either: the handler gets an error, and cannot know
// that its template and its data are right.
func (r *heldResponse) recovered(p *cocoon.PreemptedError) bool {
	if !hit(p) || cocoon.Thrown(r.ctx) == nil || r.tells(p) {
		return false
	}
	return (r.status >= 400 || !goroutine.Unwinding()) && !inTemplate(p)
}

// inTemplate reports whether the throw has come to a function that a template called. Packages
// text/template and html/template return every panic of such a function as the error of Execute.
func inTemplate(p *cocoon.PreemptedError) bool {
	return strings.Contains(p.Stack(), "\ntext/template.safeCall\n")
}

// tells reports whether a call has returned the throw.
func (r *heldResponse) tells(p *cocoon.PreemptedError) bool {
	b := r.io.Load()
	return b != nil && b.Told(p)
}

// whole reports whether the handler decided before any throw, and has since written as many bytes
// as its header declares. A trailer is decided after the body, so the length does not tell whether
// the trailer is complete.
func (r *heldResponse) whole() bool {
	return r.early && !r.lost && r.written == r.length && !r.trails()
}

// trails reports whether a trailer follows the body, either announced in the header or set by the
// handler since. In HTTP/1 a body of declared length has no trailer.
func (r *heldResponse) trails() bool {
	if !r.asked || r.request.ProtoMajor < 2 {
		return false
	}
	if r.header.get("Trailer") != "" {
		return true
	}
	for name := range r.under.Header() {
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
