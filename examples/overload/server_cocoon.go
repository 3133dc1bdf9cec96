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
func openCocoon(work *http.ServeMux, did *actions) (http.Handler, func() error, error) {
	rt, err := cocoon.New(cocoon.Config{Slots: runtime.NumCPU()})
	if err != nil {
		return nil, nil, err
	}
	stop := func() error { return rt.Shutdown(context.Background()) }
	if err := rt.LoadPolicies(strings.NewReader(policies)); err != nil {
		return nil, nil, errors.Join(err, stop())
	}
	return cocoonhttp.Middleware(rt, cocoonhttp.Options{
		Context: tenantOf,
		Refuse: func(w http.ResponseWriter, _ *http.Request, err error) {
			var preempted *cocoon.PreemptedError
			if !errors.As(err, &preempted) { // its deadline passed in the queue
				late(w)
				return
			}
			did.note()
			refuse(w)
		},
	})(work), stop, nil
}

// tenantOf labels a request with its tenant, for the policies.
func tenantOf(r *http.Request) context.Context {
	if tenant := r.URL.Query().Get("tenant"); tenant == paying || tenant == free {
		return cocoon.WithLabel(r.Context(), "tenant", tenant)
	}
	return r.Context()
}
