package cocoonhttp

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// handlers answer in all the ways there are. What a client gets must not depend on the middleware.
func handlers(t *testing.T) map[string]http.HandlerFunc {
	file := filepath.Join(t.TempDir(), "file.txt")
	must(t, os.WriteFile(file, []byte(strings.Repeat("0123456789", 50_000)), 0o600))
	small := filepath.Join(t.TempDir(), "small.txt")
	must(t, os.WriteFile(small, []byte("small"), 0o600))
	times := func(n int, w io.Writer, text string) {
		for range n {
			io.WriteString(w, text)
		}
	}
	return map[string]http.HandlerFunc{
		"nothing":     func(w http.ResponseWriter, r *http.Request) {},
		"status only": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(418) },
		"hello":       func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello") },
		"error":       func(w http.ResponseWriter, r *http.Request) { http.Error(w, "no", 404) },
		"redirect": func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/else", http.StatusTemporaryRedirect)
		},
		"no content": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204); tell(w.Write([]byte("x"))) },
		"exactly":    func(w http.ResponseWriter, r *http.Request) { times(1, w, strings.Repeat("x", holdSize)) },
		"one more":   func(w http.ResponseWriter, r *http.Request) { times(1, w, strings.Repeat("x", holdSize+1)) },
		"many":       func(w http.ResponseWriter, r *http.Request) { times(5000, w, "seven b") },
		"html":       func(w http.ResponseWriter, r *http.Request) { times(2, w, "<html>") },
		"small, large": func(w http.ResponseWriter, r *http.Request) {
			times(1, w, "x")
			times(2, w, strings.Repeat("y", 100_000))
			times(1, w, "z")
		},
		"late header": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("X-Early", "1")
			w.WriteHeader(202)
			w.Header().Set("X-Late", "1")
			w.Header().Set("X-Early", "2")
			io.WriteString(w, "x")
			w.Header().Del("X-Early")
		},
		"twice": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(201)
			w.WriteHeader(500)
			io.WriteString(w, "x")
		},
		"length": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5")
			io.WriteString(w, "hello")
		},
		"too long": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "5")
			io.WriteString(w, "hello")
			tell(io.WriteString(w, " world"))
		},
		"bad length": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", "five")
			io.WriteString(w, "hello")
		},
		"trailers": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "X-Sum")
			io.WriteString(w, "hello")
			w.Header().Set("X-Sum", "42")
			w.Header().Set(http.TrailerPrefix+"X-More", "43")
		},
		"trailers, large": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Trailer", "X-Sum")
			times(1000, w, "hello")
			w.Header().Set("X-Sum", "42")
		},
		"flushed": func(w http.ResponseWriter, r *http.Request) {
			w.(http.Flusher).Flush()
			io.WriteString(w, "a")
			http.NewResponseController(w).Flush()
			io.WriteString(w, "b")
		},
		"early hints": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Link", "</a.css>")
			w.WriteHeader(http.StatusEarlyHints)
			w.Header().Set("X-After", "1")
			io.WriteString(w, "x")
		},
		"file":       func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) },
		"small file": func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, small) },
		"copied": func(w http.ResponseWriter, r *http.Request) {
			io.Copy(w, strings.NewReader(strings.Repeat("x", 70_000)))
		},
		"copied pipe": func(w http.ResponseWriter, r *http.Request) { io.Copy(w, &io.LimitedReader{R: endless{}, N: 70_000}) },
		"read": func(w http.ResponseWriter, r *http.Request) {
			b, err := io.ReadAll(r.Body)
			fmt.Fprint(w, len(b), err)
		},
		"half read": func(w http.ResponseWriter, r *http.Request) {
			n, err := io.ReadFull(r.Body, make([]byte, 3))
			fmt.Fprint(w, n, err)
		},
		"limited": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close") // without the middleware MaxBytesReader does that
			_, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1))
			fmt.Fprint(w, err)
		},
		"unwrapped": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "a")
			if u, ok := w.(interface{ Unwrap() http.ResponseWriter }); ok {
				w = u.Unwrap()
			}
			io.WriteString(w, "b")
		},
		"panic":       func(w http.ResponseWriter, r *http.Request) { panic("x") },
		"panic, part": func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "half"); panic("x") },
		"abort": func(w http.ResponseWriter, r *http.Request) {
			times(1000, w, "hello")
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		"connection closes": func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Connection", "close")
			io.WriteString(w, "x")
		},
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// tell panics if a write that must fail did not, so that it shows.
func tell(_ int, err error) {
	if err == nil {
		panic("the write did not fail")
	}
}

func TestSameOverHTTP1(t *testing.T) {
	rt := start(t, cocoon.Config{})
	for name, h := range handlers(t) {
		for _, request := range []string{
			"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
			"GET / HTTP/1.0\r\n\r\n",
			"HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
			"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
			"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
		} {
			t.Run(name+" "+strings.Fields(request)[0]+strings.Fields(request)[2], func(t *testing.T) {
				same(t, answers(t, serve(t, Middleware(rt, Options{})(h)), request), answers(t, serve(t, h), request))
			})
		}
	}
}

// same fails unless two texts are.
func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%.500q\nwant\n%.500q", got, want)
	}
}

// answers sends what may be several requests and describes all that comes back.
func answers(t *testing.T, s *httptest.Server, request string) string {
	c, r := dial(t, s)
	send(t, c, request)
	var all strings.Builder
	for {
		resp, err := http.ReadResponse(r, &http.Request{Method: strings.Fields(request)[0]})
		if err != nil {
			return all.String() + " the end"
		}
		all.WriteString(describe(resp))
	}
}

// describe tells what an answer says: not when, and not in which pieces.
func describe(resp *http.Response) string {
	body, err := io.ReadAll(resp.Body)
	if resp.Body.Close(); err != nil {
		body = nil // it depends on the pieces how much of it arrived
	}
	resp.Header.Del("Date")
	return fmt.Sprintln(resp.Proto, resp.StatusCode, resp.Close, resp.Header, resp.ContentLength, resp.TransferEncoding, len(body), string(body), err, resp.Trailer)
}

// The same over HTTP/2, as its client sees it.
func TestSameOverHTTP2(t *testing.T) {
	rt := start(t, cocoon.Config{})
	for name, h := range handlers(t) {
		t.Run(name, func(t *testing.T) {
			same(t, seen(t, serve(t, Middleware(rt, Options{})(h), http2)), seen(t, serve(t, h, http2)))
		})
	}
}

func seen(t *testing.T, s *httptest.Server) string {
	client := s.Client()
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, err := client.Post(s.URL, "text/plain", strings.NewReader("hello"))
	if err != nil {
		return "error"
	}
	return describe(resp)
}

// What an answer can do is what the writer below it can.
func TestFacets(t *testing.T) {
	rt := start(t, cocoon.Config{})
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
	for want, w := range map[string]http.ResponseWriter{
		"false false false": struct{ http.ResponseWriter }{httptest.NewRecorder()},
		"true false false":  httptest.NewRecorder(),
		"true true true": struct {
			http.ResponseWriter
			http.Flusher
			http.Hijacker
			http.Pusher
		}{ResponseWriter: httptest.NewRecorder()},
	} {
		wrapped := (&writer{&answer{under: w}}).facet()
		_, f := wrapped.(http.Flusher)
		_, h := wrapped.(http.Hijacker)
		_, p := wrapped.(http.Pusher)
		if got := fmt.Sprint(f, h, p); got != want {
			t.Errorf("%T: got %s; want %s", w, got, want)
		}
	}
}

func TestPush(t *testing.T) {
	rt := start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		// Go's client refuses pushes, which shows that ours arrives where it should.
		if err := w.(http.Pusher).Push("/a.css", nil); err == nil || err.Error() != "feature not supported" {
			t.Errorf("push: %v", err)
		}
	}, http2)
	get(t, s, "/")
}

// Deadlines and full duplex arrive at the connection.
func TestResponseController(t *testing.T) {
	rt := start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		c := http.NewResponseController(w)
		if err := c.EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		if err := c.SetWriteDeadline(time.Now().Add(time.Hour)); err != nil {
			t.Error(err)
		}
		for r := bufio.NewReader(r.Body); ; { // an echo, line by line, while the body comes in
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
		for i == 0 { // the header comes with the first
			if l, err := r.ReadString('\n'); err != nil || l == "\r\n" {
				must(t, err)
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

// A handler that goes on writing when it has ended hears so, and reaches no other request.
func TestAfterTheEnd(t *testing.T) {
	rt := start(t, cocoon.Config{})
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
