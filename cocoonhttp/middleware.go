package cocoonhttp

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// Runner runs tasks: a *cocoon.Runtime, on its default loop, or a *cocoon.Loop.
type Runner interface {
	Run(ctx context.Context, name string, fn func(ctx context.Context) error) error
}

// Options are what Middleware can be told. The zero Options are sound.
type Options struct {
	// Name returns a request's task name; "" handles the request outside any task, as a health
	// check may want. It must not take names from the client: policies know only those that their
	// author knew, and the runtime keeps each for ever. nil: see Middleware.
	Name func(*http.Request) string

	// Context returns the context that the task starts from, to give it a priority or labels; what
	// it says counts before what a policy document says of the tasks of that name:
	//
	//	func(r *http.Request) context.Context {
	//		return cocoon.WithLabel(r.Context(), "tenant", tenantOf(r))
	//	}
	//
	// nil: the request's.
	Context func(*http.Request) context.Context

	// Refuse answers a request whose task was refused or thrown into. err is what Run returned: a
	// *cocoon.PreemptedError, or one that wraps cocoon.ErrOverloaded, cocoon.ErrShutdown or the
	// cause of a context that ended in the queue. It runs outside the task, with the header as it
	// was before the handler and Retry-After. nil: 503, with its text.
	Refuse func(w http.ResponseWriter, r *http.Request, err error)

	// RetryAfter is when a refused client may come again; whole seconds are sent, rounded up. 0: a
	// second; negative: no such header. What a policy says, throw("reason", duration("5s")), counts
	// before it.
	RetryAfter time.Duration
}

// Middleware returns a middleware that runs each request as a task of the runtime or loop, on the
// server's goroutine.
//
// A task has the name of the pattern that its request matches, as in "GET /items/{id}": in the
// handler that is wrapped, if that is an *http.ServeMux (or has a Handler method like it), or else
// in the mux around it (http.Request.Pattern); and "unmatched" without one. CONNECT requests are
// not looked up in the wrapped mux.
//
// When the client has gone the task is cancelled, as policies see it (task.cancelled). A task that
// is refused or thrown into is answered by Options.Refuse. To make that possible, an answer is held
// back until it outgrows 2 KiB, is flushed, or the handler returns. If some of it is sent already,
// the request is aborted as http.ErrAbortHandler does, so that the client can tell; connections of
// HTTP/1.0 are reset. Whatever a handler decides after a throw is treated in the same way: it saw
// only that its context ended, or that a call failed. Its own are answers that have the length
// which their header declared before the throw, those after a throw that a Section caught, and
// those after a throw that the handler recovered, but for 500, for none at all, and for a status
// below 400 that is decided while the throw unwinds. Panics of the handler pass through, but for
// http.ErrAbortHandler after a throw.
//
// A throw that is due is the error of what the handler writes, flushes and reads, a
// *cocoon.PreemptedError, and unwinds no code around that; only a handler that goes on regardless
// is thrown into there. It also ends reads and writes that a client holds up, by their deadlines;
// of HTTP/1, the connection is not used again then.
//
// Flusher, Hijacker, Pusher, ReaderFrom and http.ResponseController work as without; a connection
// that was hijacked gives the slot back while the handler's goroutine reads or writes it, and its
// NetConn method returns the real one. Not supported is http.CloseNotifier, which is deprecated;
// and http.MaxBytesReader does not tell the server to close the connection, unless it stands
// outside (http.MaxBytesHandler).
//
// Cost: about half a microsecond a request (BenchmarkMiddleware), and what the runtime costs
// (bench: http). It panics if tasks is nil.
func Middleware(tasks Runner, o Options) func(http.Handler) http.Handler {
	if tasks == nil {
		panic("cocoonhttp: Middleware: the runtime is nil; want what cocoon.New returned, or one of its loops")
	}
	if o.Refuse == nil {
		o.Refuse = unavailable
	}
	return func(next http.Handler) http.Handler {
		if next == nil {
			panic("cocoonhttp: Middleware: the handler is nil; want one, or http.DefaultServeMux")
		}
		h := &handler{tasks: tasks, next: next, options: o, retryAfter: retryAfter(o.RetryAfter)}
		h.router, _ = next.(router)
		return h
	}
}

// handler is a handler whose requests are tasks.
type handler struct {
	tasks      Runner
	next       http.Handler
	router     router // next, if it can say which pattern a request matches
	options    Options
	retryAfter string // "" for no header
}

// router is what *http.ServeMux is.
type router interface {
	Handler(*http.Request) (h http.Handler, pattern string)
}

// unmatched is the task name of requests that no pattern matches.
const unmatched = "unmatched"

// route returns the name of a request's task, and what to call if that is not the whole mux.
// Whatever the client sends, there are only as many names as patterns. It notes the pattern in the
// request, which may never come to the mux.
func (h *handler) route(r *http.Request) (name string, found http.Handler) {
	if h.options.Name != nil {
		return h.options.Name(r), nil
	}
	// For CONNECT the mux may return a path of the client's.
	if h.router != nil && r.Method != http.MethodConnect {
		if found, pattern := h.router.Handler(r); pattern != "" {
			r.Pattern = pattern
			if _, ok := h.router.(*http.ServeMux); ok && !strings.Contains(pattern, "{") && r.RequestURI != "*" {
				return pattern, found // the mux would look for the same again; but only it can set wildcards
			}
			return pattern, nil
		}
	}
	if r.Pattern != "" {
		return r.Pattern, nil
	}
	return unmatched, nil
}

func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, found := h.route(r)
	if name == "" {
		h.next.ServeHTTP(w, r)
		return
	}
	ctx := r.Context()
	if h.options.Context != nil {
		ctx = h.options.Context(r)
	}
	e := exchanges.Get().(*exchange)
	defer e.end()
	e.handler, e.request, e.found, e.under = h, r, found, w
	e.settle(h.tasks.Run(ctx, name, e.run))
}
