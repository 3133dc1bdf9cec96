package cocoonhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/cocoon-go/cocoon/policy"
)

// TestSlowBody checks that a client that sends its body byte by byte holds up no other request.
func TestSlowBody(t *testing.T) {
	_, loop := tasktest.OneSlot(t)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, r *http.Request) {})
	mux.HandleFunc("POST /", func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		fmt.Fprint(w, string(body), err)
	})
	s := serve(t, Middleware(loop, Options{})(mux))
	for name, frame := range map[string][2]string{
		"length":  {"Content-Length: 20", "%s"},
		"chunked": {"Transfer-Encoding: chunked", "1\r\n%s\r\n"},
	} {
		t.Run(name, func(t *testing.T) {
			c, r := dial(t, s)
			send(t, c, "POST / HTTP/1.1\r\nHost: a\r\n"+frame[0]+"\r\n\r\n")
			for range 20 {
				get(t, s, "/") // while the slow request waits for its next byte
				send(t, c, fmt.Sprintf(frame[1], "x"))
			}
			if name == "chunked" {
				send(t, c, "0\r\n\r\n")
			}
			resp, err := http.ReadResponse(r, nil)
			tasktest.Must(t, err)
			if body, _ := io.ReadAll(resp.Body); string(body) != strings.Repeat("x", 20)+"<nil>" {
				t.Errorf("%q", body)
			}
		})
	}
}

// TestSlowBodyIsClosed checks that closing the body of a slow client is a wait, because it reads
// the rest of the body.
func TestSlowBodyIsClosed(t *testing.T) {
	rt, loop := tasktest.OneSlot(t)
	s := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "POST" {
			tasktest.Must(t, r.Body.Close())
			io.WriteString(w, "closed")
		}
	})
	c, r := dial(t, s)
	send(t, c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
	waits(t, rt)
	get(t, s, "/")
	send(t, c, "whole")
	resp, err := http.ReadResponse(r, nil)
	tasktest.Must(t, err)
	if body, err := io.ReadAll(resp.Body); string(body) != "closed" {
		t.Errorf("%q, %v", body, err)
	}
}

// waits waits until the runtime's only task is blocked.
func waits(t *testing.T, rt *cocoon.Runtime) {
	t.Helper()
	tasktest.Eventually(t, "the task to block", func() bool { return rt.Stats().Tasks == 1 && busy(rt) == 0 })
}

// past returns a context that has ended.
func past() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// TestClientNeverReads checks that a client that never reads holds up no other request, and does
// not keep its task from being thrown into.
func TestClientNeverReads(t *testing.T) {
	for name, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
		t.Run(name, func(t *testing.T) {
			rt, loop := tasktest.OneSlot(t)
			failed := make(chan error, 1)
			s := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/endless" {
					return
				}
				defer func() { // recovers the throw and passes it on
					err, _ := recover().(error)
					failed <- err
					panic(err)
				}()
				for {
					io.WriteString(w, strings.Repeat("x", 1<<16))
				}
			}, change...)
			resp, err := s.Client().Get(s.URL + "/endless")
			tasktest.Must(t, err)
			defer resp.Body.Close()
			for range 3 {
				waits(t, rt)
				get(t, s, "/")
			}
			waits(t, rt)
			tasktest.Must(t, rt.Shutdown(past()))
			if err := tasktest.Receive(t, "the throw", failed); !errors.Is(err, cocoon.ErrShutdown) {
				t.Errorf("the handler ended with %v", err)
			}
			if _, err := io.Copy(io.Discard, resp.Body); err == nil {
				t.Error("the client took half a response for a whole one")
			}
		})
	}
}

// TestClientNeverReadsHints checks the same for informational responses.
func TestClientNeverReadsHints(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt, loop := tasktest.OneSlot(t)
	s := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", strings.Repeat("x", 1<<16))
		for {
			w.WriteHeader(http.StatusEarlyHints)
		}
	})
	c, _ := dial(t, s)
	send(t, c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	begin := time.Now()
	for quiet := begin; time.Since(quiet) < 10*time.Millisecond; {
		if time.Since(begin) > tasktest.Patience {
			t.Fatal("the task keeps its slot")
		}
		if busy(rt) != 0 || rt.Stats().Tasks == 0 {
			quiet = time.Now() // it is still sending responses
		}
	}
	shut, cancel := context.WithTimeout(past(), tasktest.Patience)
	defer cancel()
	tasktest.Must(t, rt.Shutdown(shut))
}

// TestThrowWhileReading checks that a throw into a task that waits for its body does not wait for
// the client, and that the client gets a response.
func TestThrowWhileReading(t *testing.T) {
	t.Parallel() // most of its time is a wait
	for name, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
		t.Run(name, func(t *testing.T) {
			rt, loop := tasktest.OneSlot(t)
			s := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
				io.WriteString(w, "begun")
				if _, err := io.ReadAll(r.Body); !errors.Is(err, cocoon.ErrShutdown) {
					t.Errorf("the read came back with %v", err)
				}
			}, change...)
			body, feed := io.Pipe()
			defer feed.Close()
			go func() {
				io.WriteString(feed, "half")
				waits(t, rt)
				rt.Shutdown(past())
			}()
			resp, err := s.Client().Post(s.URL, "", body)
			tasktest.Must(t, err)
			defer resp.Body.Close()
			if resp.StatusCode != 503 {
				t.Errorf("status %d", resp.StatusCode)
			}
		})
	}
}

// TestClientLeaves checks that policies see the disconnect of a client.
func TestClientLeaves(t *testing.T) {
	for name, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
		t.Run(name, func(t *testing.T) {
			rt := tasktest.Start(t, cocoon.Config{})
			_, err := rt.RegisterPolicy(policy.CallerGone())
			tasktest.Must(t, err)
			heard := make(chan error, 1)
			running := make(chan struct{})
			h := Middleware(rt, Options{Refuse: func(_ http.ResponseWriter, _ *http.Request, err error) { heard <- err }})
			s := serve(t, h(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				close(running)
				for {
					cocoon.SafePoint(r.Context())
				}
			})), change...)
			ctx, leave := context.WithCancel(t.Context())
			go func() {
				<-running
				leave()
			}()
			r, err := http.NewRequestWithContext(ctx, "GET", s.URL, nil)
			tasktest.Must(t, err)
			if resp, err := s.Client().Do(r); err == nil {
				resp.Body.Close()
				t.Errorf("the client that left was answered %d", resp.StatusCode)
			}
			var p *cocoon.PreemptedError
			if err := tasktest.Receive(t, "the throw", heard); !errors.As(err, &p) || p.Policy != "caller-gone" {
				t.Errorf("refused with %v", err)
			}
		})
	}
}

// TestContextEndsAround checks that a handler can still respond after surrounding code has ended
// its context.
func TestContextEndsAround(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	var end context.CancelFunc
	inner := Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.ReadAll(r.Body)
		io.WriteString(w, strings.Repeat("x", 2*holdSize))
		end()
		<-r.Context().Done()
		io.WriteString(w, strings.Repeat("x", 2*holdSize))
	}))
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithCancel(r.Context())
		end = cancel
		inner.ServeHTTP(w, r.WithContext(ctx))
	}))
	resp, err := s.Client().Post(s.URL, "", strings.NewReader("x"))
	tasktest.Must(t, err)
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err != nil || len(body) != 4*holdSize {
		t.Errorf("%d bytes, %v", len(body), err)
	}
}
