package main

import (
	"net/http"
	"sync/atomic"
)

// crowd is how many requests at once are an overload, in the eyes of a handler that looks.
const crowd = 8

// openPlain does nothing about the load but look at it: each handler counts those that are in
// flight, and raises an alarm.
func openPlain(work *http.ServeMux, did *actions) (http.Handler, func() error, error) {
	var inFlight atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer inFlight.Add(-1)
		if inFlight.Add(1) > crowd {
			did.note()
		}
		work.ServeHTTP(w, r)
	}), nothing, nil
}
