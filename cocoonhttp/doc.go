// Package cocoonhttp makes each request of a net/http server a task, so that policies can see the
// request, refuse it, let other requests go first, or stop it:
//
//	mux := http.NewServeMux()
//	mux.HandleFunc("GET /items/{id}", item)
//	http.ListenAndServe(addr, cocoonhttp.Middleware(rt, cocoonhttp.Options{})(mux))
//
// The task is named "GET /items/{id}", and a policy document uses this name under tasks, limits and
// match. The context of the handler's request carries the task, for [cocoon.SafePoint],
// [cocoon.Section] and [cocoon.Block].
//
// # Waiting
//
// A handler gives its slot back while it reads its request's body, and when a write waits for the
// client. These reads, and the writes of more than a small response, are safe points. [Transport]
// gives the slot back during the handler's own requests, and package cocoonsql during its queries.
// Use [cocoon.Block] for every other call that waits.
//
// Some handlers only wait, possibly for goroutines of their own, as httputil.ReverseProxy does for
// an upgraded connection. Call the whole handler inside Block:
//
//	cocoon.Block(r.Context(), func() error { proxy.ServeHTTP(w, r); return nil })
//
// # Other middleware
//
// Place [Middleware] close to the handlers. It belongs inside middleware that recovers panics,
// which would otherwise log a throw as a panic. It also belongs inside [http.TimeoutHandler], which
// runs its handler on a goroutine other than the task's.
//
// # Shutdown
//
// [Shutdown] drains the servers, stops the requests still running, and shuts the runtime down.
package cocoonhttp
