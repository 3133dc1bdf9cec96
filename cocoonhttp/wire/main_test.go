// Package wire compares the HTTP/2 frames of cocoonhttp with the frames of net/http. It is a
// separate module because it depends on the framer and on h2spec.
package wire

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// tasks returns a handler that runs as tasks.
func tasks(t testing.TB, h http.Handler) http.Handler {
	rt, err := cocoon.New(cocoon.Config{Logger: slog.New(slog.DiscardHandler)})
	tasktest.Must(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
		defer cancel()
		if err := rt.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	return cocoonhttp.Middleware(rt, cocoonhttp.Options{})(h)
}

// serve serves HTTP/2 without TLS, and returns the address.
func serve(t testing.TB, h http.Handler) *net.TCPAddr {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	tasktest.Must(t, err)
	s := &http.Server{Handler: h, ErrorLog: log.New(io.Discard, "", 0), Protocols: new(http.Protocols)}
	s.Protocols.SetUnencryptedHTTP2(true)
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return l.Addr().(*net.TCPAddr)
}

// handlers returns a handler that responds in many ways, by path.
func handlers() http.Handler {
	m := http.NewServeMux()
	m.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") })
	m.HandleFunc("/nothing", func(w http.ResponseWriter, r *http.Request) {})
	m.HandleFunc("/none", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204) })
	m.HandleFunc("/large", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, strings.Repeat("0123456789", 10_000)) })
	m.HandleFunc("/pieces", func(w http.ResponseWriter, r *http.Request) {
		for i := range 5 {
			fmt.Fprintf(w, "piece %d\n", i)
			w.(http.Flusher).Flush()
		}
	})
	m.HandleFunc("/length", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		io.WriteString(w, "hello")
	})
	m.HandleFunc("/hints", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "</a.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("X-After", "1")
		io.WriteString(w, "hinted")
	})
	m.HandleFunc("/trailers", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Trailer", "X-Sum")
		io.WriteString(w, "with a sum")
		w.Header().Set("X-Sum", "42")
	})
	m.HandleFunc("/read", func(w http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		fmt.Fprint(w, len(b), err, r.Trailer)
	})
	m.HandleFunc("/echo", func(w http.ResponseWriter, r *http.Request) { io.Copy(w, r.Body) })
	m.HandleFunc("/some", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.ReadFull(r.Body, make([]byte, 3))
		fmt.Fprint(w, n, err)
	})
	m.HandleFunc("/panic", func(w http.ResponseWriter, r *http.Request) { panic(http.ErrAbortHandler) })
	m.HandleFunc("/half", func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "half")
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	})
	return m
}
