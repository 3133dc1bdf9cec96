package main

import (
	"context"
	_ "embed"
	"errors"
	"net/http"
	"runtime"
	"strings"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
)

//go:embed policies.yaml
var policies string

// openCocoon makes each request a task of its tenant, on a loop with a slot for each core. The
// policies do the rest.
func openCocoon(work *http.ServeMux, did *actions, folder string) (http.Handler, func() error, error) {
	w, err := newWiring(folder)
	if err != nil {
		return nil, nil, err
	}
	rt, err := cocoon.New(cocoon.Config{Slots: runtime.NumCPU(), FlightRecorder: w.recorder()})
	if err != nil {
		return nil, nil, errors.Join(err, w.close())
	}
	stop := func() error { return errors.Join(rt.Shutdown(context.Background()), w.close()) }
	if err := w.wire(rt); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	tasks := cocoonhttp.Middleware(rt, cocoonhttp.Options{
		Context: tenantOf,
		Refuse: func(rw http.ResponseWriter, r *http.Request, err error) {
			w.logRefusal(rw, r, err)
			var preempted *cocoon.PreemptedError
			if !errors.As(err, &preempted) { // its deadline passed in the queue
				late(rw)
				return
			}
			did.note()
			refuse(rw)
		},
	})(work)
	return tasked{tasks, rt, w.documents()}, stop, nil
}

// tenantOf labels a request with its tenant, for the policies.
func tenantOf(r *http.Request) context.Context {
	if tenant := r.URL.Query().Get("tenant"); tenant == paying || tenant == free {
		return cocoon.WithLabel(r.Context(), "tenant", tenant)
	}
	return r.Context()
}

// loadPolicies loads the policies that belong to the program.
func loadPolicies(rt *cocoon.Runtime) error { return rt.LoadPolicies(strings.NewReader(policies)) }
