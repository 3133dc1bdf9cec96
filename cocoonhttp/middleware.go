package cocoonhttp

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/internal/inside"
)

func init() { inside.Abort = http.ErrAbortHandler }

// Runner runs tasks: a *cocoon.Runtime, on its default loop, or a *cocoon.Loop.
type Runner interface {
	Run(ctx context.Context, name string, fn func(ctx context.Context) error) error
}

// Options configure Middleware. The zero value is ready to use.
type Options struct {
	// Name returns a request's task name. If it returns "", the handler runs outside any task,
	// which suits health checks. Name should not take names from the client: the runtime keeps the
	// first 65,536 names, and no figures about tasks of other names (Stats.Unkept). If Name is nil,
	// the task is named as described at Middleware.
	Name func(*http.Request) string

	// Context returns the context that the task starts from, and can give the task a priority or
	// labels. These take precedence over the priority and labels that a policy document gives to
	// tasks of that name:
	//
	//	func(r *http.Request) context.Context {
	//		return cocoon.WithLabel(r.Context(), "tenant", tenantOf(r))
	//	}
	//
	// If Context is nil, the task starts from the request's context.
	Context func(*http.Request) context.Context

	// Refuse responds to a request that was refused or thrown into. err is what Run returned: a
	// *cocoon.PreemptedError, or an error that wraps cocoon.ErrOverloaded, cocoon.ErrShutdown or
	// the cause of a context that ended in the queue. Refuse runs outside the task. It finds the
	// header as it was before the handler ran, plus Retry-After. If Refuse is nil, the response is
	// 503 with its status text.
	Refuse func(w http.ResponseWriter, r *http.Request, err error)

	// RetryAfter is how long a refused client should wait before it tries again. It is sent in
	// whole seconds, rounded up. 0 means one second; a negative value means no Retry-After header.
	// A duration that a policy gives, throw("reason", duration("5s")), overrides it.
	RetryAfter time.Duration
}

// Middleware returns a middleware that runs each request as a task of the runtime or loop, on the
// server's goroutine.
//
// A task has the name of the pattern that its request matches, as in "GET /items/{id}". If the
// wrapped handler is an *http.ServeMux, or has a Handler method like it, Middleware asks it for the
// pattern. Otherwise the pattern comes from the surrounding mux (http.Request.Pattern). A request
// without a pattern is named "unmatched". Middleware does not look up CONNECT requests in the
// wrapped mux.
//
// When the client disconnects, policies see its task as cancelled (task.cancelled). If a task is
// refused or thrown into, Options.Refuse responds. For this, the middleware holds a response back
// until it outgrows 2 KiB, is flushed, or the handler returns. If part of the response has been
// sent when the throw comes, the middleware aborts the request as http.ErrAbortHandler does, so
// that the client can tell that the response is incomplete. It resets HTTP/1.0 connections.
//
// The middleware replaces or aborts a response that the handler decides on after a throw in the
// same way, because the handler saw only that its context ended or that a call failed. Three kinds
// of response still count as the handler's own:
//   - a response of exactly the length that its header declared before the throw, without a trailer
//   - a response after a throw that a Section caught, unless cocoon build inserted the Section and
//     code inside has written to the response, because that code knows of no throw
//   - a response after a throw that the handler recovered, unless the status is 500, or the handler
//     wrote none, or it chose a status below 400 while the throw was unwinding. A throw that a
//     template returned as its error does not count as recovered.
//
// Panics of the handler pass through, except http.ErrAbortHandler after a throw.
//
// When a throw is due, the handler's writes, flushes and reads return it as their error, a
// *cocoon.PreemptedError, and do not unwind the calling code. If the handler ignores several of
// these errors, the next of these calls throws. A throw also ends reads and writes that a client
// holds up, by setting their deadlines. The server does not use an HTTP/1 connection again after
// that.
//
// Flusher, Hijacker, Pusher, ReaderFrom and http.ResponseController work as they do without the
// middleware. A hijacked connection gives the slot back while the handler's goroutine reads it, and
// when a write waits. A throw that unwinds the handler closes it. Its NetConn method returns the
// underlying connection. If this is a TCP connection, the kernel copies net.Buffers, files and
// other connections to it, as without the middleware. The deprecated http.CloseNotifier is not
// supported. http.MaxBytesReader does not tell the server to close the connection, unless it is
// applied outside the middleware (http.MaxBytesHandler).
//
// The middleware costs about half a microsecond a request (BenchmarkMiddleware), in addition to the
// cost of the runtime (bench: http). Middleware panics if tasks is nil.
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

// handler runs each request as a task.
type handler struct {
	tasks      Runner
	next       http.Handler
	router     router // next, if it can tell which pattern a request matches
	options    Options
	retryAfter string // "" for no header
}

// router is the part of *http.ServeMux that route uses.
type router interface {
	Handler(*http.Request) (h http.Handler, pattern string)
}

// unmatched is the task name of requests that no pattern matches.
const unmatched = "unmatched"

// route returns the name of a request's task, and the handler to call instead of the whole mux, if
// any. There are only as many names as patterns, whatever the client sends. route records the
// pattern in the request, because the request may never reach the mux.
func (h *handler) route(r *http.Request) (name string, found http.Handler) {
	if h.options.Name != nil {
		return h.options.Name(r), nil
	}
	// For CONNECT the mux may return a path that the client chose.
	if h.router != nil && r.Method != http.MethodConnect {
		if found, pattern := h.router.Handler(r); pattern != "" {
			r.Pattern = pattern
			if _, ok := h.router.(*http.ServeMux); ok && !strings.Contains(pattern, "{") && r.RequestURI != "*" {
				// The mux would find the same handler; but only the mux can set wildcards.
				return pattern, found
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
