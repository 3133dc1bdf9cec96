package main

import (
	"net/http"

	shed "github.com/zeromicro/go-zero/core/load"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stat"
)

// go-zero logs each request that it drops, and a line a minute in all processes that know it.
func init() {
	logx.Disable()
	stat.DisableLog()
}

// openGoZero refuses what go-zero's adaptive shedder does. As its rest.Server does, the class that
// matters has a second shedder, whose threshold is half-way up to the top.
//
// The threshold of the processor's load is the least there is, so that the limit on requests in
// flight alone decides. Its default is 900 of 1000, of all cores and averaged over 5 s: it never
// came into play, and 200 did after 1.4 s.
func openGoZero(work *http.ServeMux, did *actions) (http.Handler, func() error, error) {
	const threshold = 1
	shedder := shed.NewAdaptiveShedder(shed.WithCpuThreshold(threshold))
	priority := shed.NewAdaptiveShedder(shed.WithCpuThreshold((threshold + 1000) / 2))
	limited := func(w http.ResponseWriter, r *http.Request) {
		class, err := classOf(r.URL.Path)
		if err != nil {
			http.NotFound(w, r)
			return
		}
		gate := shedder
		if class.priority == classes[critical].priority {
			gate = priority
		}
		promise, err := gate.Allow()
		if err != nil {
			did.note()
			refuse(w)
			return
		}
		work.ServeHTTP(w, r)
		if r.Context().Err() != nil {
			promise.Fail()
		} else {
			promise.Pass()
		}
	}
	return http.HandlerFunc(limited), nothing, nil
}
