package cocoonhttp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestThrow checks that a throw becomes a 503 as long as nothing has been sent, and after that
// aborts the request, so that the client can tell.
func TestThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for _, c := range []struct {
		name string
		do   func(w http.ResponseWriter)
		want bool // 503
	}{
		{"nothing yet", func(w http.ResponseWriter) {}, true},
		{"a header", func(w http.ResponseWriter) { w.Header().Set("Set-Cookie", "secret=1") }, true},
		{"a status", func(w http.ResponseWriter) { w.Header().Set("Content-Length", "5"); w.WriteHeader(201) }, true},
		{"a few bytes", func(w http.ResponseWriter) { io.WriteString(w, "half of it") }, true},
		{"2 KiB", func(w http.ResponseWriter) { io.WriteString(w, strings.Repeat("x", holdSize)) }, true},
		{"informational", func(w http.ResponseWriter) { w.WriteHeader(103) }, true},
		{"more", func(w http.ResponseWriter) { io.WriteString(w, strings.Repeat("x", holdSize+1)) }, false},
		{"flushed", func(w http.ResponseWriter) { w.(http.Flusher).Flush() }, false},
		{"bytes, flushed", func(w http.ResponseWriter) { io.WriteString(w, "half"); w.(http.Flusher).Flush() }, false},
		{"unwrapped", func(w http.ResponseWriter) {
			io.WriteString(w.(interface{ Unwrap() http.ResponseWriter }).Unwrap(), "half")
		}, false},
	} {
		for name, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
			t.Run(c.name+" "+name, func(t *testing.T) {
				s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
					c.do(w)
					throwInto(r.Context())
					t.Error("it was not thrown into")
				}, change...)
				// A POST, because no client sends it again by itself.
				resp, err := s.Client().Post(s.URL, "", strings.NewReader(""))
				if err == nil {
					defer resp.Body.Close()
					_, err = io.ReadAll(resp.Body)
				}
				if !c.want {
					if err == nil {
						t.Error("the client took half a response for a whole one")
					}
					return
				}
				if err != nil {
					t.Fatal(err)
				}
				if resp.StatusCode != 503 || resp.Header.Get("Retry-After") != "1" || resp.Header.Get("Set-Cookie") != "" {
					t.Errorf("%d %v", resp.StatusCode, resp.Header)
				}
			})
		}
	}
}

// TestConnectionLivesOn checks that the response after a throw, on the same connection, is whole.
func TestConnectionLivesOn(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, "hello")
		if r.URL.Path == "/throw" {
			throwInto(r.Context())
		}
	})
	c, r := dial(t, s)
	for _, path := range []string{"/", "/throw", "/", "/throw", "/"} {
		send(t, c, "GET "+path+" HTTP/1.1\r\nHost: a\r\n\r\n")
		resp, err := http.ReadResponse(r, nil)
		tasktest.Must(t, err)
		body, err := io.ReadAll(resp.Body)
		tasktest.Must(t, err)
		want := map[string]string{"/": "hello", "/throw": "Service Unavailable\n"}[path]
		if string(body) != want {
			t.Errorf("%s: %q; want %q", path, body, want)
		}
	}
}

// TestPanic checks that panics pass through unchanged, and that held bytes are then not sent.
func TestPanic(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	own := errors.New("own")
	h := Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X", "1")
		io.WriteString(w, "half")
		panic(own)
	}))
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			if r := recover(); r != own {
				t.Errorf("panicked with %v", r)
			}
			http.Error(w, "sorry", 500)
		}()
		h.ServeHTTP(w, r)
	}))
	if resp, body := get(t, s, "/"); resp.StatusCode != 500 || body != "sorry\n" {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

// TestPanicAfterPartialWrite checks that any panic after a partial write passes through unchanged,
// that the client cannot take what it got for a whole response, and that the slot is free again.
func TestPanicAfterPartialWrite(t *testing.T) {
	for name, write := range map[string]func(w http.ResponseWriter){
		"held":    func(w http.ResponseWriter) { io.WriteString(w, "half") },
		"sent":    func(w http.ResponseWriter) { io.WriteString(w, strings.Repeat("x", 2*holdSize)) },
		"flushed": func(w http.ResponseWriter) { io.WriteString(w, "half"); w.(http.Flusher).Flush() },
		"copied":  func(w http.ResponseWriter) { io.Copy(w, strings.NewReader(strings.Repeat("x", 1<<20))) },
	} {
		for protocol, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
			for _, own := range []error{errors.New("own"), http.ErrAbortHandler} {
				t.Run(name+" "+protocol+" "+own.Error(), func(t *testing.T) {
					_, loop := tasktest.OneSlot(t)
					h := Middleware(loop, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						if r.Method == "POST" {
							write(w)
							panic(own)
						}
					}))
					s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
						defer func() {
							if p := recover(); p != nil {
								if p != own {
									t.Errorf("panicked with %v", p)
								}
								panic(p)
							}
						}()
						h.ServeHTTP(w, r)
					}), change...)
					// A POST, because no client sends it again by itself.
					resp, err := s.Client().Post(s.URL, "", strings.NewReader(""))
					if err == nil {
						_, err = io.ReadAll(resp.Body)
						resp.Body.Close()
					}
					if err == nil {
						t.Errorf("the client took half a response for a whole one: %d", resp.StatusCode)
					}
					get(t, s, "/")
				})
			}
		}
	}
}

// TestPolicyThrows checks that a policy stops a handler that polls, and that Options.Refuse gets
// the policy's error.
func TestPolicyThrows(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader("version: 1\nlimits: [{func: \"GET /slow/{id}\", limit: 1ms}]\n")))
	heard := make(chan error, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /slow/{id}", func(w http.ResponseWriter, r *http.Request) {
		for { // not until its context ends, which may be before the throw arrives
			cocoon.SafePoint(r.Context())
		}
	})
	s := serve(t, Middleware(rt, Options{Refuse: func(w http.ResponseWriter, r *http.Request, err error) {
		heard <- err
		unavailable(w, r, err)
	}})(mux))
	resp, _ := get(t, s, "/slow/1")
	var p *cocoon.PreemptedError
	if err := tasktest.Receive(t, "the error", heard); resp.StatusCode != 503 || !errors.As(err, &p) || p.Task != "GET /slow/{id}" || !p.Started {
		t.Errorf("%d %v", resp.StatusCode, err)
	}
}

// TestSectionAnswers checks that the handler can respond to a throw that a Section catches.
func TestSectionAnswers(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader("version: 1\nlimits: [{func: step, limit: 1ms}]\n")))
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		ctx := r.Context()
		_, err := cocoon.Section(ctx, "step", func() (int, error) {
			for ctx.Err() == nil {
				cocoon.SafePoint(ctx)
			}
			return 0, context.Cause(ctx)
		})
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
	})
	if resp, body := get(t, s, "/"); resp.StatusCode != 422 || !strings.Contains(body, "step ran longer than 1ms") {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}

// TestRecoveredThrow checks the responses of a handler that recovers a throw. A 500, as for any
// panic, or no response, as for a client that has disconnected, is replaced as for any throw. Other
// responses are the handler's own.
func TestRecoveredThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for _, c := range []struct {
		name  string
		throw bool
		do    func(w http.ResponseWriter)
		want  int
	}{
		{"500", true, func(w http.ResponseWriter) { http.Error(w, "sorry", 500) }, 503},
		{"a bare 500", true, func(w http.ResponseWriter) { w.WriteHeader(500) }, 503},
		{"500 without a throw", false, func(w http.ResponseWriter) { http.Error(w, "sorry", 500) }, 500},
		{"500, flushed, where it is thrown again", true, func(w http.ResponseWriter) { w.WriteHeader(500); w.(http.Flusher).Flush() }, 503},
		{"another status", true, func(w http.ResponseWriter) { http.Error(w, "too slow", http.StatusUnprocessableEntity) }, 422},
		{"200", true, func(w http.ResponseWriter) { w.WriteHeader(200) }, 200},
		{"nothing", true, func(http.ResponseWriter) {}, 503},
		{"nothing without a throw", false, func(http.ResponseWriter) {}, 200},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
				func() {
					defer func() { recover() }()
					if c.throw {
						throwInto(r.Context())
					}
				}()
				w.Header().Set("X-Own", "1")
				c.do(w)
			})
			resp, _ := get(t, s, "/")
			refused := resp.StatusCode == 503 && resp.Header.Get("Retry-After") == "1" && resp.Header.Get("X-Own") == ""
			if resp.StatusCode != c.want || refused != (c.want == 503) {
				t.Errorf("%d %v; want %d", resp.StatusCode, resp.Header, c.want)
			}
		})
	}
}

// TestThrowSaysWhere checks that the error names the line of a handler that ignored errors, and not
// a frame below it.
func TestThrowSaysWhere(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for name, c := range map[string]struct {
		do   func(w http.ResponseWriter, r *http.Request)
		want string
	}{
		"read":  {func(_ http.ResponseWriter, r *http.Request) { io.ReadAll(r.Body) }, "io.ReadAll"},
		"write": {func(w http.ResponseWriter, _ *http.Request) { w.Write(make([]byte, holdSize+1)) }, "TestThrowSaysWhere"},
		"flush": {func(w http.ResponseWriter, _ *http.Request) { w.(http.Flusher).Flush() }, "TestThrowSaysWhere"},
	} {
		t.Run(name, func(t *testing.T) {
			heard := make(chan error, 1)
			s := serve(t, Middleware(rt, Options{Refuse: func(w http.ResponseWriter, r *http.Request, err error) {
				heard <- err
				unavailable(w, r, err)
			}})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				cocoon.TaskOf(r.Context()).Cancel()
				for {
					c.do(w, r)
				}
			})))
			resp, err := s.Client().Post(s.URL, "", strings.NewReader("body"))
			tasktest.Must(t, err)
			resp.Body.Close()
			var p *cocoon.PreemptedError
			if err := tasktest.Receive(t, "the error", heard); !errors.As(err, &p) || !strings.Contains(p.Where(), c.want) {
				t.Errorf("it was at %q; want %s: %v", p.Where(), c.want, err)
			}
		})
	}
}

// TestRecoveredInTheMidst checks a response that had begun when the throw came, from a handler that
// the throw did not end. Such a response may be incomplete: recovering code can no longer respond,
// and leaves the response so (chi's Recoverer behind its Logger).
func TestRecoveredInTheMidst(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for _, c := range []struct {
		name  string
		do    func(w http.ResponseWriter, r *http.Request)
		whole bool // a 503
	}{
		{"a status", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(200) }, true},
		{"some bytes", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "half") }, true},
		{"a status when the context has ended", func(w http.ResponseWriter, r *http.Request) {
			cocoon.TaskOf(r.Context()).Cancel()
			<-r.Context().Done()
			w.WriteHeader(200)
		}, true},
		{"sent", func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "half"); w.(http.Flusher).Flush() }, false},
		{"around", func(w http.ResponseWriter, _ *http.Request) {
			io.WriteString(w.(interface{ Unwrap() http.ResponseWriter }).Unwrap(), "half")
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
				defer func() { recover() }()
				c.do(w, r)
				throwInto(r.Context())
			})
			resp, err := s.Client().Post(s.URL, "", nil)
			if err == nil {
				defer resp.Body.Close()
				_, err = io.ReadAll(resp.Body)
			}
			if (err == nil) != c.whole || c.whole && resp.StatusCode != 503 {
				t.Errorf("%+v, %v", resp, err)
			}
		})
	}
}

// TestThrowTooLate checks that a response that had begun when the throw came is the handler's own
// if it has the length that its header declares. For any other response it is unknown what the
// handler would have written if its context had not ended.
func TestThrowTooLate(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{StallAfter: -1})
	for name, c := range map[string]struct {
		do   func(w http.ResponseWriter)
		want string
	}{
		"a length":              {func(w http.ResponseWriter) { w.Header().Set("Content-Length", "4"); io.WriteString(w, "done") }, "200 done"},
		"a length, not reached": {func(w http.ResponseWriter) { w.Header().Set("Content-Length", "5"); io.WriteString(w, "done") }, "503 Service Unavailable\n"},
		"no length":             {func(w http.ResponseWriter) { io.WriteString(w, "done") }, "503 Service Unavailable\n"},
		"no body":               {func(w http.ResponseWriter) { w.WriteHeader(204) }, "204 "},
		"flushed":               {func(w http.ResponseWriter) { io.WriteString(w, "done"); w.(http.Flusher).Flush() }, "cut"},
		"large":                 {func(w http.ResponseWriter) { w.Write(make([]byte, 3*holdSize)) }, "cut"},
		"large, of that length": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", strconv.Itoa(3*holdSize))
			io.WriteString(w, strings.Repeat("x", 3*holdSize))
		}, "200 " + strings.Repeat("x", 3*holdSize)},
	} {
		for protocol, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
			t.Run(name+" "+protocol, func(t *testing.T) {
				s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
					c.do(w)
					task := cocoon.TaskOf(r.Context())
					time.AfterFunc(time.Millisecond, task.Cancel)
					<-r.Context().Done()
				}, change...)
				got := "cut"
				if resp, err := s.Client().Post(s.URL, "", nil); err == nil {
					body, err := io.ReadAll(resp.Body)
					if resp.Body.Close(); err == nil {
						got = fmt.Sprint(resp.StatusCode, " ", string(body))
					}
				}
				same(t, got, c.want)
			})
		}
	}
}

// TestThrowEndsTheContext checks handlers that return without a response when their context ends,
// because their client must have disconnected. After a throw the client is still connected.
func TestThrowEndsTheContext(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{StallAfter: -1})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		task := cocoon.TaskOf(r.Context())
		time.AfterFunc(time.Millisecond, task.Cancel)
		<-r.Context().Done()
	})
	if resp, body := get(t, s, "/"); resp.StatusCode != 503 {
		t.Errorf("%d %q", resp.StatusCode, body)
	}
}
