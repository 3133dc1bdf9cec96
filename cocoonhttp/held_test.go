package cocoonhttp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// handlers respond in every way that the tests know. What a client gets must not depend on the
// middleware.
func handlers(t *testing.T) map[string]http.HandlerFunc {
	file := filepath.Join(t.TempDir(), "file.txt")
	tasktest.Must(t, os.WriteFile(file, []byte(strings.Repeat("0123456789", 50_000)), 0o600))
	small := filepath.Join(t.TempDir(), "small.txt")
	tasktest.Must(t, os.WriteFile(small, []byte("small"), 0o600))
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
		"no content": func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(204); recount(w.Write([]byte("x"))) },
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
		"header after a write": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "x")
			w.Header().Set("X-Late", "1")
		},
		"header after a status": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(202)
			w.Header().Set(http.TrailerPrefix+"X-Late", w.Header().Get("X-Outer"))
			io.WriteString(w, "x")
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
			recount(io.WriteString(w, " world"))
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
			fmt.Fprint(w, len(b), err, r.Trailer)
		},
		"closed": func(w http.ResponseWriter, r *http.Request) {
			err := r.Body.Close()
			n, readErr := r.Body.Read(make([]byte, 1))
			fmt.Fprint(w, err, n, readErr)
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
		"panic, flushed": func(w http.ResponseWriter, r *http.Request) {
			io.WriteString(w, "half")
			w.(http.Flusher).Flush()
			panic("x")
		},
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

// recount panics if a write that must fail succeeded, so that the test notices.
func recount(_ int, err error) {
	if err == nil {
		panic("the write did not fail")
	}
}

func TestSameOverHTTP1(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for name, h := range handlers(t) {
		for _, request := range []string{
			"GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
			"GET / HTTP/1.0\r\n\r\n",
			"HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
			"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhelloGET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n",
			"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: 100-continue\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
			"PUT / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\nX-Sum: 7\r\n\r\n",
		} {
			t.Run(name+" "+strings.Fields(request)[0]+strings.Fields(request)[2], func(t *testing.T) {
				t.Parallel() // some connections are closed half a second after their response
				same(t, responses(t, serve(t, outer(Middleware(rt, Options{})(h))), request), responses(t, serve(t, outer(h)), request))
			})
		}
	}
}

// outer is a surrounding middleware.
func outer(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Outer", "1")
		h.ServeHTTP(w, r)
	})
}

// same fails the test unless got equals want.
func same(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got\n%.500q\nwant\n%.500q", got, want)
	}
}

// responses sends one or more requests, and describes everything that comes back.
func responses(t *testing.T, s *httptest.Server, request string) string {
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

// describe returns the content of a response, without times and chunk boundaries.
func describe(resp *http.Response) string {
	body, err := io.ReadAll(resp.Body)
	if resp.Body.Close(); err != nil {
		body, err = nil, errors.New("cut") // how much arrived, and how it ended, depends on timing
	}
	resp.Header.Del("Date")
	return fmt.Sprintln(resp.Proto, resp.StatusCode, resp.Close, resp.Header, resp.ContentLength, resp.TransferEncoding, len(body), string(body), err, resp.Trailer)
}

// TestSameOverHTTP2 checks the same over HTTP/2, as its client sees it.
func TestSameOverHTTP2(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for name, h := range handlers(t) {
		t.Run(name, func(t *testing.T) {
			same(t, seen(t, serve(t, outer(Middleware(rt, Options{})(h)), http2)), seen(t, serve(t, outer(h), http2)))
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
