package main

import (
	"context"
	"net/http"
	"runtime"
	"time"
)

// The semaphore's settings, the best of those tried: 1, 2, 4 and 8 concurrent requests a core, and
// waits of 5 to 80 ms.
const (
	atOnce   = 8 // for each core
	waitTime = 10 * time.Millisecond
)

// openSemaphore lets a fixed number of requests work concurrently. More requests wait, and are
// refused when they have waited too long.
func openSemaphore(work *http.ServeMux, did *actions, _ string) (http.Handler, func() error, error) {
	free := make(chan struct{}, atOnce*runtime.NumCPU())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), waitTime)
		defer cancel()
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			did.note()
			refuse(w)
			return
		}
		defer func() { <-free }()
		work.ServeHTTP(w, r)
	}), nothing, nil
}
