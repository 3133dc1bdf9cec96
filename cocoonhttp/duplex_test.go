package cocoonhttp

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

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
		"its own response": {func(w http.ResponseWriter, r *http.Request) { full(w); http.Error(w, "no", http.StatusConflict) }, nil, 409},
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

// TestDuplexResponseFirst checks that, in full duplex mode, a client that sends the rest of its
// body only after the response gets the whole response, and then the end of the connection.
func TestDuplexResponseFirst(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := tasktest.Start(t, cocoon.Config{})
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    string
	}{
		"thrown into": {func(w http.ResponseWriter, r *http.Request) { throwInto(r.Context()) }, "503"},
		"short":       {func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", http.StatusConflict) }, "409no\n"},
		"long":        {func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, longText) }, "200" + longText},
		"flushed": {func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "a")
			http.NewResponseController(w).Flush()
			io.WriteString(w, "b")
		}, "200ab"},
		"a part read": {func(w http.ResponseWriter, r *http.Request) {
			r.Body.Read(make([]byte, 1))
			io.WriteString(w, longText)
		}, "200" + longText},
	} {
		s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
			http.NewResponseController(w).EnableFullDuplex()
			c.handler(w, r)
		})
		for _, body := range []string{"Content-Length: 5\r\n\r\nhe", "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n"} {
			conn, r := dial(t, s)
			conn.SetDeadline(time.Now().Add(5 * time.Second))
			send(t, conn, "POST / HTTP/1.1\r\nHost: a\r\n"+body)
			resp, err := http.ReadResponse(r, nil)
			tasktest.Must(t, err)
			got, err := io.ReadAll(resp.Body)
			if got := fmt.Sprint(resp.StatusCode, string(got)); err != nil || !strings.HasPrefix(got, c.want) {
				t.Errorf("%s: %.20q, %v; want %.20q", name, got, err, c.want)
			}
			conn.(*net.TCPConn).CloseWrite()
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("%s: the connection ends with %v", name, err)
			}
		}
	}
}

// TestDuplexCut checks that a throw ends the connection, although a goroutine that the handler
// leaves behind waits for more of the request's body. The client sends no more of it before the
// response has ended, and must not wait for the server while the server waits for the client.
func TestDuplexCut(t *testing.T) {
	for _, begun := range []bool{true, false} {
		for _, header := range []string{"", "Expect: 100-continue\r\n"} {
			t.Run(fmt.Sprintf("begun %t %.6s", begun, header), func(t *testing.T) {
				t.Parallel() // net/http closes the connections half a second after their responses
				rt := tasktest.Start(t, cocoon.Config{})
				s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) { leavesAReader(w, r, begun) })
				for range 20 {
					c, r := dial(t, s)
					c.SetDeadline(time.Now().Add(5 * time.Second))
					send(t, c, "POST / HTTP/1.1\r\nHost: a\r\n"+header+"Content-Length: 10\r\n\r\nhello")
					resp, err := http.ReadResponse(r, nil)
					for err == nil && resp.StatusCode == http.StatusContinue {
						resp, err = http.ReadResponse(r, nil)
					}
					tasktest.Must(t, err)
					if body, err := io.ReadAll(resp.Body); (err == nil) == begun || !begun && resp.StatusCode != 503 {
						t.Fatalf("%s %q, and then %v", resp.Status, body, err)
					}
					if _, err := r.ReadByte(); errors.Is(err, os.ErrDeadlineExceeded) {
						t.Fatal("the connection does not end")
					}
				}
			})
		}
	}
}

// leavesAReader is a handler with a goroutine that waits for more of the body when a throw comes.
func leavesAReader(w http.ResponseWriter, r *http.Request, begins bool) {
	http.NewResponseController(w).EnableFullDuplex()
	half := make(chan bool)
	go func() {
		io.ReadFull(r.Body, make([]byte, 5))
		close(half)
		io.ReadAll(r.Body)
	}()
	if <-half; begins {
		io.WriteString(w, "begun")
		http.NewResponseController(w).Flush()
	}
	time.Sleep(5 * time.Millisecond) // until the goroutine waits
	throwInto(r.Context())
}

var longText = strings.Repeat("long ", 2000)
