package cocoonhttp

import (
	"context"
	"net/http"
	"reflect"
	"sync"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// exchange is a request and its answer, as long as they are under way. Exchanges are used again,
// because at tens of thousands of requests a second a task's garbage costs more than the rest of it
// (bench: http). So the handler gets none of it but its writer, which ends with the exchange.
type exchange struct {
	answer
	handler *handler
	found   http.Handler // what to call; nil: all that the middleware is around
	writer  *writer      // nil before the task has begun
	body    *body        // the handler's; nil if the request has none
	run     func(ctx context.Context) error

	// A throw into the task that has not ended the handler: its code recovered it, saw only that
	// its context ended or that a call failed, or has not heard of it at all.
	survived *cocoon.PreemptedError

	// Kept from one request to the next.
	like reflect.Type // of the last writer below; the next one is of the same
	can  skills       // of such
}

// given is what a handler is given: one piece of garbage instead of two.
type given struct {
	request http.Request
	writer  writer
}

var exchanges = sync.Pool{New: func() any {
	e := &exchange{}
	e.run = e.serve
	return e
}}

// serve is the task: it calls the handler. What that has learned about the request, the server and
// middlewares around may use.
func (e *exchange) serve(ctx context.Context) (err error) {
	e.ctx = ctx
	g := &given{request: *e.request.WithContext(ctx), writer: writer{answer: &e.answer}}
	e.writer = &g.writer
	r, next := &g.request, e.handler.next
	if e.found != nil {
		next = e.found
	}
	if r.Body != nil && r.Body != http.NoBody {
		e.body = &body{ReadCloser: r.Body, io: e.blocking(), server: e.request, handler: r}
		r.Body = e.body
	}
	returned := false
	defer func() {
		e.request.Pattern, e.request.MultipartForm = r.Pattern, r.MultipartForm // the server removes the form's files
		if returned {
			return
		}
		if p := tell.Thrown(ctx); p != nil {
			err = gaveUp(recover(), p)
		}
	}()
	if t := reflect.TypeOf(e.under); t != e.like {
		e.like, e.can = t, skillsOf(e.under)
	}
	next.ServeHTTP(e.writer.facet(e.can), r)
	returned = true
	e.survived = tell.Thrown(ctx)
	return nil
}

// gaveUp returns the throw that a handler was told of, where it has given its answer up: proxies
// abort what they cannot copy to its end. Other panics go on.
func gaveUp(r any, p *cocoon.PreemptedError) error {
	switch r {
	case nil: // runtime.Goexit
		return nil
	case http.ErrAbortHandler:
		if !hit(p) {
			return p
		}
		r = p // the panic that the runtime expects; another one it would log
	}
	panic(r)
}

// broken reports whether the handler was to be thrown into and has returned all the same, without
// an answer of which somebody could know that it is whole and its own. What code decides when its
// calls fail and its context ends is nobody's answer: it takes its client for gone, so it says
// anything, nothing, or no more. Code that recovers all panics answers 500, or leaves the answer as
// it is. An answer is the handler's own when it is as long as a header declares that was decided
// before, and when the handler recovered the throw and then decided.
func (e *exchange) broken() bool {
	switch p := e.survived; {
	case p == nil || e.whole():
		return false
	case e.lost:
		return true
	case e.late:
		return e.status == http.StatusInternalServerError && !e.sent && !e.exposed
	default:
		return true
	}
}

// settle passes on the end of the answer when the handler has returned, or another answer in its
// place; err says why, if it was refused or thrown into. The task has ended, so it may block.
func (e *exchange) settle(err error) {
	if err == nil && e.broken() {
		err = e.survived
	}
	cut := e.ended(err != nil || e.survived != nil)
	switch {
	case e.hijacked:
		return // the connection is the handler's affair
	case err == nil && !cut:
		e.send()
		e.settleBody()
		return
	case e.sent || e.exposed:
		e.abort() // too late for another answer
	case err != nil:
		e.drop()
	}
	if cut && e.request.ProtoMajor == 1 { // a stream of HTTP/2 ends by itself
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
	e.sent, e.status = true, http.StatusServiceUnavailable // or what Refuse has made of it
	e.settleBody()
}

// ended ends what the handler began to read and to write, and reports whether a throw has cut that
// off.
func (e *exchange) ended(thrown bool) (cut bool) {
	if e.io == nil {
		return false
	}
	cut = e.io.end(thrown)
	e.io = nil
	return cut
}

// end ends the exchange, however the handler ended.
func (e *exchange) end() {
	if e.ended(false) && e.request.ProtoMajor == 1 && !e.hijacked {
		e.under.Header().Set("Connection", "close") // the handler panicked, and somebody around may answer
	}
	if e.writer != nil {
		e.writer.leave(e)
	}
	e.release()
	before, header := e.before, e.header
	before.forget()
	header.forget()
	*e = exchange{run: e.run, like: e.like, can: e.can}
	e.before, e.header = before, header
	exchanges.Put(e)
}
