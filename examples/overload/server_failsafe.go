package main

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"time"

	"github.com/failsafe-go/failsafe-go/adaptivelimiter"
	"github.com/failsafe-go/failsafe-go/priority"
)

// failsafePriorities are the limiter's names of the example's priorities 0 to 2.
var failsafePriorities = []priority.Priority{priority.VeryLow, priority.Medium, priority.VeryHigh}

// openFailsafe limits requests with failsafe-go's adaptive limiter, with priorities and a queue, as
// its documentation recommends for servers (https://failsafe-go.dev/adaptive-limiter,
// https://failsafe-go.dev/execution-prioritization). Its defaults are for loads that change in
// minutes, and had little effect here (130 good responses a second). These are the best of 30
// settings tried: narrow limits, short windows, a long queue, and calibrations a hundred times as
// often as recommended (250 to 300).
func openFailsafe(work *http.ServeMux, did *actions, _ string) (http.Handler, func() error, error) {
	prioritizer := adaptivelimiter.NewPrioritizer()
	stop := prioritizer.ScheduleCalibrations(context.Background(), 10*time.Millisecond)
	cores := uint(runtime.NumCPU())
	limiter := adaptivelimiter.NewBuilder[any]().
		WithLimits(1, 4*cores, 2*cores).
		WithRecentWindow(100*time.Millisecond, time.Second, 20).
		WithQueueing(1, 20).
		BuildPrioritized(prioritizer)
	limited := func(w http.ResponseWriter, r *http.Request) {
		class, err := classOf(r.URL.Path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		permit, err := limiter.AcquirePermitWithPriority(r.Context(), failsafePriorities[class.priority])
		switch {
		case errors.Is(err, adaptivelimiter.ErrExceeded):
			did.note()
			refuse(w)
			return
		case err != nil: // its deadline passed in the queue
			late(w)
			return
		}
		work.ServeHTTP(w, r)
		if r.Context().Err() != nil {
			permit.Drop()
		} else {
			permit.Record()
		}
	}
	return http.HandlerFunc(limited), func() error { stop(); return nil }, nil
}
