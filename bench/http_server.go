package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// The servers: plain Go, with Cocoon, and with the policies of a server that also has long
// requests.
const (
	plainServer    = "plain"
	cocoonServer   = "cocoon"
	policiesServer = "policies"
	watchedKind    = "watched" // with Cocoon, and readers of its decisions
	scrapedKind    = "scraped" // with Cocoon, and its metrics scraped every second
	wiredKind      = "wired"   // with Cocoon, and all that shows it to operators
)

const httpPolicies = `
version: 1
tasks: {GET /hello: safe, GET /report: preemptible}
preemption: {on: enqueue}
limits: [{func: GET /report, limit: 500ms}]
policies: [{name: shed, on: enqueue, expr: 'queue.oldest > duration("500ms") ? throw("overloaded") : continue()'}]
`

// page is more than cocoonhttp holds back.
var page = make([]byte, 16<<10)

// serveHTTP is the server process.
func serveHTTP(kind string) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello, world")
	})
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", strconv.Itoa(len(page)))
		for part := range slices.Chunk(page, 1<<10) { // as a template or an encoder writes
			w.Write(part)
		}
	})
	var handler http.Handler = mux
	if kind != plainServer {
		rt, err := cocoon.New(cocoon.Config{})
		if err != nil {
			return err
		}
		if kind == policiesServer {
			if err := rt.LoadPolicies(strings.NewReader(httpPolicies)); err != nil {
				return err
			}
		}
		if kind == watchedKind {
			for range watchers {
				go func() {
					for range rt.Decisions(0).All(context.Background()) {
					}
				}()
			}
		}
		if kind == scrapedKind {
			go scrape(rt)
		}
		if kind == wiredKind {
			if _, err := wire(rt, os.TempDir()); err != nil {
				return err
			}
		}
		handler = cocoonhttp.Middleware(rt, cocoonhttp.Options{})(mux)
	}
	return serveHandler(handler)
}

// serveHandler serves until this process should end.
func serveHandler(handler http.Handler) error {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler}
	if err := loadtest.Attend(listener, func() { server.Close() }); err != nil {
		return err
	}
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
