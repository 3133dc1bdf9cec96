package main

import (
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoondebug"
	"github.com/cocoon-go/cocoon/cocoonprom"
)

// pagePath is the path of the page of the runtime.
const pagePath = "/debug/cocoon/"

// tasked is a handler whose requests are tasks of a runtime.
type tasked struct {
	http.Handler
	runtime   *cocoon.Runtime
	documents []string // that operators may load
}

// pageAddress returns where the page is served. Without a host, only this machine can reach it: the
// page has no authentication.
func pageAddress(given string) (string, error) {
	host, port, err := net.SplitHostPort(given)
	if err != nil {
		return "", fmt.Errorf("-page %q; want [HOST]:PORT", given)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

// servePage serves the page and the metrics of the handler's runtime, if it has one and there is an
// address, outside of the limits and until close. All other requests are for the server.
func servePage(address string, of, all http.Handler) (close func() error, err error) {
	t, ok := of.(tasked)
	if !ok || address == "" {
		return nothing, nil
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("-page: %w", err)
	}
	mux := http.NewServeMux()
	mux.Handle("/", all)
	mux.Handle(pagePath, cocoondebug.Handler(t.runtime, cocoondebug.Options{Actions: len(t.documents) > 0, Documents: t.documents}))
	metrics := prometheus.NewRegistry()
	metrics.MustRegister(cocoonprom.NewCollector(t.runtime))
	mux.Handle("GET /metrics", promhttp.HandlerFor(metrics, promhttp.HandlerOpts{}))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: time.Minute}
	go server.Serve(listener)
	return server.Close, nil
}
