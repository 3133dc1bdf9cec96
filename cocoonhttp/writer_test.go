package cocoonhttp

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestFacets checks that a writer has exactly the optional interfaces of the writer below it.
func TestFacets(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	can := func(w http.ResponseWriter, r *http.Request) {
		_, f := w.(http.Flusher)
		_, h := w.(http.Hijacker)
		_, p := w.(http.Pusher)
		fmt.Fprint(w, f, h, p)
	}
	for name, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
		_, want := get(t, serve(t, http.HandlerFunc(can), change...), "/")
		if _, got := get(t, handle(t, rt, can, change...), "/"); got != want {
			t.Errorf("%s: got %s; want %s", name, got, want)
		}
	}
	type (
		W = http.ResponseWriter
		F = http.Flusher
		H = http.Hijacker
		P = http.Pusher
	)
	base := struct{ W }{httptest.NewRecorder()}
	for want, w := range map[string]W{
		"false false false": base,
		"true false false": struct {
			W
			F
		}{W: base},
		"false true false": struct {
			W
			H
		}{W: base},
		"false false true": struct {
			W
			P
		}{W: base}, // as http.TimeoutHandler has
		"true true false": struct {
			W
			F
			H
		}{W: base},
		"true false true": struct {
			W
			F
			P
		}{W: base},
		"false true true": struct {
			W
			H
			P
		}{W: base},
		"true true true": struct {
			W
			F
			H
			P
		}{W: base},
	} {
		wrapped := (&writer{response: &heldResponse{under: w}}).facet(skillsOf(w))
		_, f := wrapped.(http.Flusher)
		_, h := wrapped.(http.Hijacker)
		_, p := wrapped.(http.Pusher)
		if got := fmt.Sprint(f, h, p); got != want {
			t.Errorf("%T: got %s; want %s", w, got, want)
		}
	}
}

func TestPush(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		// Go's client refuses pushes, which shows that the push arrives there.
		if err := w.(http.Pusher).Push("/a.css", nil); err == nil || err.Error() != "feature not supported" {
			t.Errorf("push: %v", err)
		}
	}, http2)
	get(t, s, "/")
}

// TestResponseController checks that deadlines and full duplex take effect on the connection.
func TestResponseController(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		if err := c.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		if err := c.SetWriteDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Error(err)
		}
		for r := bufio.NewReader(r.Body); ; { // echoes line by line while the body comes in
			line, err := r.ReadString('\n')
			if err != nil {
				break
			}
			io.WriteString(w, line)
			c.Flush()
		}
		if err := c.SetReadDeadline(time.Unix(1, 0)); err != nil {
			t.Error(err)
		}
	})
	c, r := dial(t, s)
	send(t, c, "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
	for i, line := range []string{"one\n", "two\n", "three\n"} {
		send(t, c, fmt.Sprintf("%x\r\n%s\r\n", len(line), line))
		for i == 0 { // the header comes with the first line
			if l, err := r.ReadString('\n'); err != nil || l == "\r\n" {
				tasktest.Must(t, err)
				break
			}
		}
		for _, want := range []string{fmt.Sprintf("%x\r\n", len(line)), line, "\r\n"} {
			if l, err := r.ReadString('\n'); l != want {
				t.Fatalf("got %q, %v; want %q", l, err, want)
			}
		}
	}
	send(t, c, "0\r\n\r\n")
}

// TestDeadlines checks that deadlines that a handler sets end its reads and writes.
func TestDeadlines(t *testing.T) {
	for protocol, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
		for name, h := range map[string]func(w http.ResponseWriter, r *http.Request) error{
			"read": func(w http.ResponseWriter, r *http.Request) error {
				tasktest.Must(t, http.NewResponseController(w).SetReadDeadline(longAgo))
				_, err := r.Body.Read(make([]byte, 1))
				return err
			},
			"write": func(w http.ResponseWriter, r *http.Request) error {
				c := http.NewResponseController(w)
				tasktest.Must(t, c.SetWriteDeadline(longAgo))
				io.WriteString(w, "late")
				return c.Flush()
			},
		} {
			t.Run(protocol+" "+name, func(t *testing.T) {
				ended := make(chan error, 1)
				s := handle(t, tasktest.Start(t, cocoon.Config{}), func(w http.ResponseWriter, r *http.Request) { ended <- h(w, r) }, change...)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var body io.Reader
				if name == "read" { // a client that never sends
					from, feed := io.Pipe()
					defer feed.Close()
					body = from
				}
				r, err := http.NewRequestWithContext(ctx, "POST", s.URL, body)
				tasktest.Must(t, err)
				go func() {
					if resp, err := s.Client().Do(r); err == nil {
						resp.Body.Close()
					}
				}()
				if err := tasktest.Receive(t, "the handler", ended); err == nil || name == "read" && !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Errorf("it ended with %v", err)
				}
			})
		}
	}
}

// TestAfterTheEnd checks that a handler that writes after its end gets an error, and reaches no
// other request.
func TestAfterTheEnd(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	var kept http.ResponseWriter
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		if kept == nil {
			kept = w
			return
		}
		io.WriteString(w, "mine")
		kept.Header().Set("X-Late", "1")
		kept.WriteHeader(500)
		_, written := io.WriteString(kept, "late")
		_, copied := io.Copy(kept, strings.NewReader("late"))
		c := http.NewResponseController(kept)
		_, _, hijacked := c.Hijack()
		for what, err := range map[string]error{"write": written, "copy": copied, "flush": c.Flush(), "hijack": hijacked, "deadline": c.SetWriteDeadline(time.Time{})} {
			if err == nil {
				t.Errorf("a late %s was taken", what)
			}
		}
	})
	get(t, s, "/")
	if resp, body := get(t, s, "/"); body != "mine" || resp.StatusCode != 200 || resp.Header.Get("X-Late") != "" {
		t.Errorf("%d %v %q", resp.StatusCode, resp.Header, body)
	}
}

// TestHijackOverHTTP2 checks that a handler that asks for an interface that the connection lacks
// gets an error, and can respond with one.
func TestHijackOverHTTP2(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for _, body := range []string{"", "cannot upgrade"} {
		s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
			if _, _, err := http.NewResponseController(w).Hijack(); err == nil {
				t.Error("a stream of HTTP/2 was hijacked")
			}
			w.Header().Set("X-Why", "HTTP/2")
			w.WriteHeader(http.StatusNotImplemented)
			io.WriteString(w, body)
		}, http2)
		resp, got := get(t, s, "/")
		if resp.StatusCode != http.StatusNotImplemented || resp.Header.Get("X-Why") != "HTTP/2" || got != body {
			t.Errorf("%d %v %q", resp.StatusCode, resp.Header, got)
		}
	}
}

// TestUnwrapInBetween checks that writes through an unwrapped writer and writes around it arrive in
// order.
func TestUnwrapInBetween(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		under := w.(interface{ Unwrap() http.ResponseWriter }).Unwrap()
		for _, text := range []string{"a", "b", "c"} {
			io.WriteString(w, text)
			io.WriteString(under, strings.ToUpper(text))
		}
	})
	if _, body := get(t, s, "/"); body != "aAbBcC" {
		t.Errorf("%q", body)
	}
}

// TestAroundTheHandler checks that frameworks can respond to a handler's error, after the handler
// has returned, through the writer that the handler had (echo.WrapMiddleware).
func TestAroundTheHandler(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for _, c := range []struct {
		name           string
		inside, around func(w http.ResponseWriter)
		want           string
	}{
		{"an error", func(http.ResponseWriter) {}, func(w http.ResponseWriter) {
			w.Header().Set("X-Error", "1")
			w.WriteHeader(404)
			io.WriteString(w, "not ")
			io.WriteString(w, "found")
		}, "404 1 not found"},
		{"a header before", func(w http.ResponseWriter) { w.Header().Set("X-Error", "2") }, func(w http.ResponseWriter) { w.WriteHeader(400) }, "400 2 "},
		{"more", func(w http.ResponseWriter) { w.WriteHeader(201); io.WriteString(w, "in") }, func(w http.ResponseWriter) { io.WriteString(w, "out") }, "201  inout"},
		{"flushed", func(http.ResponseWriter) {}, func(w http.ResponseWriter) { io.WriteString(w, "out"); w.(http.Flusher).Flush() }, "200  out"},
	} {
		for name, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				var logged bytes.Buffer
				s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					var given http.ResponseWriter
					Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						given = w
						c.inside(w)
					})).ServeHTTP(w, r)
					c.around(given)
				}), append(change, func(s *httptest.Server) { s.Config.ErrorLog = log.New(&logged, "", 0) })...)
				resp, body := get(t, s, "/")
				if got := fmt.Sprintf("%d %s %s", resp.StatusCode, resp.Header.Get("X-Error"), body); got != c.want {
					t.Errorf("%q; want %q", got, c.want)
				}
				s.Close()
				if logged.Len() > 0 {
					t.Errorf("the server logged %q", &logged)
				}
			})
		}
	}
}
