package cocoonhttp

import (
	"bytes"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestComplaintsNameTheHandler checks that the server's log of a handler's mistakes names the
// handler's line, as it does without the middleware.
func TestComplaintsNameTheHandler(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for name, h := range map[string]http.HandlerFunc{
		"twice":       func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201); w.WriteHeader(202) },
		"after write": func(w http.ResponseWriter, r *http.Request) { w.Write([]byte("x")); w.WriteHeader(202) },
		"after flush": func(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush(); http.Error(w, "no", 500) },
		"hints":       func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(201); w.WriteHeader(103) },
		"hijacked": func(w http.ResponseWriter, r *http.Request) {
			c, _, err := w.(http.Hijacker).Hijack()
			tasktest.Must(t, err)
			defer c.Close()
			w.WriteHeader(200)
			if _, err := w.Write([]byte("x")); err != http.ErrHijacked {
				t.Errorf("the write returned %v", err)
			}
			if _, err := w.Write(nil); err != http.ErrHijacked {
				t.Errorf("the empty write returned %v", err)
			}
		},
	} {
		for protocol, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
			if name == "hijacked" && protocol == "HTTP/2" {
				continue
			}
			t.Run(name+" "+protocol, func(t *testing.T) {
				said := func(h http.Handler) string {
					var logged bytes.Buffer
					// The server does not wait for a handler that has hijacked.
					ended := make(chan struct{})
					s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						defer close(ended)
						h.ServeHTTP(w, r)
					}), append(change, func(s *httptest.Server) { s.Config.ErrorLog = log.New(&logged, "", 0) })...)
					got(s, "POST")
					tasktest.Receive(t, "the handler", ended)
					s.Close()
					return logged.String()
				}
				want := said(h)
				if protocol == "HTTP/1" && !strings.Contains(want, "complain_test.go") && name != "after flush" {
					t.Fatalf("without the middleware: %q", want)
				}
				same(t, said(Middleware(rt, Options{})(h)), want)
			})
		}
	}
}
