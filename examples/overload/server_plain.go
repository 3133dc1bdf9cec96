package main

import (
	"net/http"
	"sync/atomic"
)

// crowd is the number of concurrent requests that a handler considers an overload.
const crowd = 8

// openPlain only observes the load: each handler counts the requests in flight, and raises an
// alarm.
func openPlain(work *http.ServeMux, did *actions, _ string) (http.Handler, func() error, error) {
	var inFlight atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer inFlight.Add(-1)
		if inFlight.Add(1) > crowd {
			did.note()
		}
		work.ServeHTTP(w, r)
	}), nothing, nil
}
