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

// openCocoon makes each request a task with a priority and a tenant, of a loop with a slot for each core. All else is in the
// policies.
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
		Context: attributes,
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

// attributes tells policies of what class and tenant a request is.
func attributes(r *http.Request) context.Context {
	ctx := r.Context()
	if class, err := classOf(r.URL.Path); err == nil {
		ctx = cocoon.WithPriority(ctx, class.priority)
	}
	if tenant := r.URL.Query().Get("tenant"); tenant == paying || tenant == free {
		ctx = cocoon.WithLabel(ctx, "tenant", tenant)
	}
	return ctx
}
