package cocoonhttp

import (
	"context"
	"net/http"
	"reflect"
	"sync"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// exchange is a request and its response while they are in progress. Exchanges are reused, because
// at tens of thousands of requests a second a task's garbage costs more than the rest of the task
// (bench: http). For that reason the handler gets no part of the exchange except its writer, which
// is detached when the exchange ends.
type exchange struct {
	heldResponse
	handler *handler
	found   http.Handler // the handler to call; nil: the wrapped one
	writer  *writer      // nil before the task has begun
	body    *body        // the handler's; nil if the request has none
	run     func(ctx context.Context) error

	// survived is a throw into the task that has not ended the handler: the handler recovered it,
	// saw only that its context ended or that a call failed, or has not noticed it at all.
	survived *cocoon.PreemptedError
	// a throw that only a section which cocoon build inserted has noticed; see inside.CutShort
	cutShort error
	over     bool // the handler's goroutines can no longer use the response
	refused  bool // the response is not the handler's

	// The fields below are kept from one request to the next.
	like reflect.Type // type of the last underlying writer; the next one usually has the same
	can  skills       // of that type
}

// given holds a handler's arguments. It is one allocation instead of two.
type given struct {
	request http.Request
	writer  writer
}

var exchanges = sync.Pool{New: func() any {
	e := &exchange{}
	e.run = e.serve
	return e
}}

// serve is the task: it calls the handler. It copies what the handler has learned about the request
// to the server's request, for the server and surrounding middleware.
func (e *exchange) serve(ctx context.Context) (err error) {
	e.ctx = ctx
	g := new(given)
	g.request = *e.request.WithContext(ctx)
	g.writer.response, g.writer.under = &e.heldResponse, e.under
	e.writer = &g.writer
	r, next := &g.request, e.handler.next
	if e.found != nil {
		next = e.found
	}
	if r.Body != nil && r.Body != http.NoBody {
		small := 0 < r.ContentLength && r.ContentLength <= serverBuffer
		e.body = &body{ReadCloser: r.Body, io: e.blocking(), small: small, server: e.request, handler: r}
		r.Body = e.body
	}
	returned := false
	defer func() {
		// The server removes the form's files.
		e.request.Pattern, e.request.MultipartForm = r.Pattern, r.MultipartForm
		if returned {
			return
		}
		if p := tell.Thrown(ctx); p != nil && !hit(p) {
			err = gaveUp(recover(), p)
		}
	}()
	if t := reflect.TypeOf(e.under); t != e.like {
		e.like, e.can = t, skillsOf(e.under)
	}
	next.ServeHTTP(e.writer.facet(e.can), r)
	returned = true
	e.survived = tell.Thrown(ctx)
	if inside.Inserts.Load() {
		e.cutShort = inside.CutShort(ctx)
	}
	return nil
}

// gaveUp returns the throw that the handler was told of, if the handler then gave its response up:
// proxies abort a response if they cannot copy all of it. Other panics continue.
func gaveUp(r any, p *cocoon.PreemptedError) error {
	switch r {
	case nil: // runtime.Goexit
		return nil
	case http.ErrAbortHandler:
		return p
	}
	panic(r)
}

// broken returns the throw that the handler should have reported but did not: it has returned
// normally, with a response that cannot be trusted to be complete and the handler's own. If its
// calls fail and its context ends, a handler assumes that its client has disconnected, so its
// response may be anything, nothing, or cut short. Code that recovers all panics responds with 500,
// or leaves the response as it is. A response is the handler's own if it is whole, or if the
// handler recovered the throw and then decided.
//
// A throw that a section caught leaves the response to the handler. But if cocoon build inserted
// the section, and the task has written inside, the handler knows of no throw (inside.CutShort).
func (e *exchange) broken() error {
	p := e.survived
	switch {
	case e.whole():
		return nil
	case p == nil && e.lostTo != nil:
		return e.lostTo
	case p == nil:
		return e.cutShort
	case e.late && !e.lost && (e.status != http.StatusInternalServerError || e.sent || e.exposed):
		return nil
	}
	return p
}

// settle sends the rest of the response when the handler has returned, or a different response if
// the task was refused or thrown into; err is the reason. The task has ended, so settle may block.
func (e *exchange) settle(err error) {
	unwound := err != nil
	cut := e.ended(unwound || e.survived != nil || e.cutShort != nil)
	if err == nil {
		err = e.broken()
	}
	e.refused = err != nil
	switch {
	case e.hijacked:
		// The connection belongs to the handler. One that a throw unwinds may not close it, as that
		// of net/rpc does not, and its client would wait without end.
		if unwound && e.conn != nil {
			e.conn.Close()
		}
		return
	case err == nil && !cut:
		e.send()
		e.settleBody()
		return
	case e.sent || e.exposed || err != nil && e.mistaken():
		e.abort() // too late for another response
	case err != nil:
		e.drop()
	}
	if cut && e.request.ProtoMajor == 1 { // an HTTP/2 stream ends by itself
		e.leaveBody()
		e.last()
	}
	if err == nil {
		e.send()
		return
	}
	if !e.duplex {
		e.closeBody()
	}
	e.handler.refuse(e.under, e.request, err)
	e.sent, e.status = true, http.StatusServiceUnavailable // or the status that Refuse has sent
	e.settleBody()
}

// ended ends the reads and writes that the handler began, and reports whether a throw has cut any
// of them off. Afterwards no goroutine of the handler uses the response. A handler waits for its
// goroutines, but a throw may unwind it before.
func (e *exchange) ended(thrown bool) (cut bool) {
	if e.over {
		return false
	}
	e.over = true
	if b := e.io.Load(); b != nil {
		cut = b.end(thrown)
	}
	if e.writer != nil {
		e.writer.detach()
	}
	return cut
}

// end ends the exchange, however the handler ended.
func (e *exchange) end() {
	if !e.over && e.ended(e.writer != nil && e.writer.busy()) && e.request.ProtoMajor == 1 && !e.hijacked {
		// The handler panicked, and a surrounding middleware may respond.
		e.under.Header().Set("Connection", "close")
	}
	if e.writer != nil {
		e.writer.leave(e)
	}
	e.release()
	e.before.forget()
	e.header.forget()
	before, header, run, like, can := e.before, e.header, e.run, e.like, e.can
	*e = exchange{} // clears e in place: a literal that refers to e is made on the stack and copied
	e.before, e.header, e.run, e.like, e.can = before, header, run, like, can
	exchanges.Put(e)
}
