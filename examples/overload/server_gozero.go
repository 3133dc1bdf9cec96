package main

import (
	"net/http"

	shed "github.com/zeromicro/go-zero/core/load"
	"github.com/zeromicro/go-zero/core/logx"
	"github.com/zeromicro/go-zero/core/stat"
)

// go-zero logs each request that it drops, and one line a minute in every process that imports it.
func init() {
	logx.Disable()
	stat.DisableLog()
}

// openGoZero limits requests with go-zero's adaptive shedder. As in its rest.Server, the important
// class has a second shedder, with a threshold halfway to the maximum.
//
// The threshold of the processor's load is the minimum, so that only the limit on requests in
// flight decides. Its default is 900 of 1000, of all cores and averaged over 5 s: the default never
// took effect, and 200 took effect after 1.4 s.
func openGoZero(work *http.ServeMux, did *actions, _ string) (http.Handler, func() error, error) {
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
