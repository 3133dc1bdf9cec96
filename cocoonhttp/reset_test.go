package cocoonhttp

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestCutWithoutLength checks that a cut response ends by a reset if the end of the connection
// marks the end of the response: HTTP/1.0 clients, as many proxies are, would take it for whole.
func TestCutWithoutLength(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for name, c := range map[string]struct {
		request string
		tls     bool
		whole   bool
	}{
		"HTTP/1.0":          {request: "GET /cut HTTP/1.0\r\n\r\n"},
		"HTTP/1.0, whole":   {request: "GET / HTTP/1.0\r\n\r\n", whole: true},
		"HTTP/1.0 over TLS": {request: "GET /cut HTTP/1.0\r\n\r\n", tls: true},
		"identity":          {request: "GET /cut?identity HTTP/1.1\r\nHost: a\r\n\r\n"},
		"identity, whole":   {request: "GET /?identity HTTP/1.1\r\nHost: a\r\n\r\n", whole: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewUnstartedServer(Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.RawQuery == "identity" {
					w.Header().Set("Transfer-Encoding", "identity")
				}
				io.WriteString(w, strings.Repeat("row\n", 10_000))
				w.(http.Flusher).Flush()
				if r.URL.Path == "/cut" {
					throwInto(r.Context())
				}
			})))
			s.Config.ErrorLog = quiet
			if c.tls {
				s.StartTLS()
			} else {
				s.Start()
			}
			defer s.Close()
			conn, err := net.Dial("tcp", s.Listener.Addr().String())
			tasktest.Must(t, err)
			if c.tls {
				conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
			}
			defer conn.Close()
			conn.SetDeadline(time.Now().Add(tasktest.Patience))
			send(t, conn, c.request)
			body, err := io.ReadAll(conn)
			if (err == nil) != c.whole {
				t.Errorf("%d bytes, and then %v", len(body), err)
			}
		})
	}
}

// TestCutInAWrite checks the same for a response cut off during a write that the client holds up.
func TestCutInAWrite(t *testing.T) {
	for name, h := range map[string]func(w http.ResponseWriter){
		"large":   func(w http.ResponseWriter) { w.Write(make([]byte, 1<<20)) },
		"strings": func(w http.ResponseWriter) { io.WriteString(w, strings.Repeat("x", 1<<20)) },
		"small":   func(w http.ResponseWriter) { w.Write(make([]byte, 100)) },
		"copied":  func(w http.ResponseWriter) { io.Copy(w, &io.LimitedReader{R: endless{}, N: 1 << 20}) },
	} {
		for _, over := range []string{"TCP", "TLS"} {
			t.Run(name+" "+over, func(t *testing.T) {
				rt := tasktest.Start(t, cocoon.Config{})
				var task atomic.Pointer[cocoon.Task]
				s := httptest.NewUnstartedServer(Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					task.Store(cocoon.TaskOf(r.Context()))
					for {
						h(w)
					}
				})))
				s.Config.ErrorLog = quiet
				conn, err := net.Dial("tcp", s.Listener.Addr().String())
				tasktest.Must(t, err)
				if over == "TLS" {
					s.StartTLS()
					conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true})
				} else {
					s.Start()
				}
				defer s.Close()
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(tasktest.Patience))
				send(t, conn, "GET / HTTP/1.0\r\n\r\n")
				waits(t, rt)
				time.Sleep(20 * time.Millisecond) // until the client holds it up
				task.Load().Cancel()
				tasktest.Eventually(t, "the task to end", func() bool { return rt.Stats().Tasks == 0 })
				if n, err := io.Copy(io.Discard, conn); err == nil {
					t.Errorf("the client takes %d bytes for all", n)
				}
			})
		}
	}
}

// TestStoppedUploadIsAnswered checks that a client gets the response when its upload is stopped
// halfway, whatever it sends after that: Go's client reports a reset connection as its error.
func TestStoppedUploadIsAnswered(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		time.AfterFunc(5*time.Millisecond, cocoon.TaskOf(r.Context()).Cancel)
		io.Copy(io.Discard, r.Body)
	})
	for range longtest.Count(20, 5) {
		resp, err := s.Client().Post(s.URL, "", io.LimitReader(endless{}, 1<<40)) // in chunks
		tasktest.Must(t, err)
		if body, err := io.ReadAll(resp.Body); resp.StatusCode != 503 || err != nil {
			t.Errorf("%d %q, %v", resp.StatusCode, body, err)
		}
		resp.Body.Close()
	}
}
