// Package cocoonhttp makes each request of a net/http server a task, so that policies see it, may
// refuse it, let others go first, or stop it:
//
//	mux := http.NewServeMux()
//	mux.HandleFunc("GET /items/{id}", item)
//	http.ListenAndServe(addr, cocoonhttp.Middleware(rt, cocoonhttp.Options{})(mux))
//
// The task is named "GET /items/{id}", which is what a policy document calls it under tasks, limits
// and match. The context of the handler's request carries it, for cocoon.SafePoint, Section and
// Block.
//
// A handler gives its slot back while it reads its request's body, and while it writes more than a
// small answer. Transport does the same for requests that a handler makes; package cocoonsql for
// its queries; cocoon.Block for all else that waits. These reads and writes are safe points.
//
// A handler that only waits for others, also for goroutines of its own, as httputil.ReverseProxy
// does for a connection that was upgraded, is best called inside of Block as a whole:
//
//	cocoon.Block(r.Context(), func() error { proxy.ServeHTTP(w, r); return nil })
//
// Middleware belongs close to the handlers: inside of what recovers panics, which would log a throw
// as a panic, and inside of http.TimeoutHandler, which runs its handler on a goroutine that is not
// the task's.
package cocoonhttp
