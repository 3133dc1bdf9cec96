package cocoonhttp

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestDuplexUnread checks that a handler in full duplex mode that returns without reading does not
// leave its body unread: one goroutine at a time reads the requests that the client has sent after
// it, and they get a response.
func TestDuplexUnread(t *testing.T) {
	full := func(w http.ResponseWriter) { http.NewResponseController(w).EnableFullDuplex() }
	for name, c := range map[string]struct {
		first  http.HandlerFunc
		around func(http.Handler) http.Handler
		want   int
	}{
		"thrown into": {func(w http.ResponseWriter, r *http.Request) { full(w); throwInto(r.Context()) }, nil, 503},
		"thrown into at the first read": {func(w http.ResponseWriter, r *http.Request) {
			full(w)
			cocoon.TaskOf(r.Context()).Cancel()
			io.ReadAll(r.Body)
		}, nil, 503},
		"its context ends": {func(w http.ResponseWriter, r *http.Request) {
			full(w)
			cocoon.TaskOf(r.Context()).Cancel()
			<-r.Context().Done()
			w.WriteHeader(502)
		}, nil, 503},
		"by a middleware around": {func(w http.ResponseWriter, r *http.Request) { throwInto(r.Context()) }, func(h http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { full(w); h.ServeHTTP(w, r) })
		}, 503},
		"its own answer": {func(w http.ResponseWriter, r *http.Request) { full(w); http.Error(w, "no", http.StatusConflict) }, nil, 409},
	} {
		t.Run(name, func(t *testing.T) {
			mux := http.NewServeMux()
			mux.HandleFunc("/first", c.first)
			mux.HandleFunc("/read", func(w http.ResponseWriter, r *http.Request) {
				var body []byte
				var done sync.WaitGroup
				// As http.Transport reads the body for httputil.ReverseProxy.
				done.Go(func() { body, _ = io.ReadAll(r.Body) })
				done.Wait()
				w.Write(body)
			})
			h := Middleware(tasktest.Start(t, cocoon.Config{}), Options{})(mux)
			if c.around != nil {
				h = c.around(h)
			}
			var logged bytes.Buffer
			s := serve(t, h, func(s *httptest.Server) { s.Config.ErrorLog = log.New(&logged, "", 0) })
			conn, r := dial(t, s)
			send(t, conn, strings.Repeat("POST /first HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhello"+
				"POST /read HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nworld", 20))
			for range 20 {
				for _, want := range []string{fmt.Sprint(c.want), "200world"} {
					resp, err := http.ReadResponse(r, nil)
					tasktest.Must(t, err)
					body, err := io.ReadAll(resp.Body)
					tasktest.Must(t, err)
					if got := fmt.Sprint(resp.StatusCode, string(body)); !strings.HasPrefix(got, want) {
						t.Fatalf("%s; want %s", got, want)
					}
				}
			}
			conn.Close()
			if s.Close(); logged.Len() > 0 {
				t.Errorf("the server logged %.200q", &logged)
			}
		})
	}
}

// TestDuplexAnswerFirst checks that, in full duplex mode, a client that sends the rest of its body
// only after the response gets the response.
func TestDuplexAnswerFirst(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		http.NewResponseController(w).EnableFullDuplex()
		throwInto(r.Context())
	})
	c, r := dial(t, s)
	for range 3 {
		send(t, c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		tasktest.Must(t, err)
		if resp.StatusCode != 503 {
			t.Fatalf("status %d", resp.StatusCode)
		}
		send(t, c, "hello")
		if _, err := io.ReadAll(resp.Body); err != nil {
			t.Fatal(err)
		}
	}
}
