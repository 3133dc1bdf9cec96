package cocoonhttp

import (
	"compress/gzip"
	"context"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// got reports how a client understands a response.
func got(s *httptest.Server, method string) string {
	r, err := http.NewRequest(method, s.URL, nil)
	if err != nil {
		return err.Error()
	}
	resp, err := s.Client().Do(r)
	if err != nil {
		return "cut"
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case err != nil:
		return "cut"
	case resp.StatusCode == 503 && resp.Header.Get("Retry-After") == "1" && resp.Header.Get("Cache-Control") == "":
		return "refused"
	}
	return fmt.Sprint(resp.StatusCode, " ", string(body))
}

// TestThrowInATemplate checks that the response to a throw is the throw's if a template has
// recovered it, and returned it as its error: the handler blames the template or its data.
func TestThrowInATemplate(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{StallAfter: -1})
	h := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		page := template.Must(template.New("page").Funcs(template.FuncMap{"rows": func() string {
			cocoon.TaskOf(r.Context()).Cancel()
			cocoon.SafePoint(r.Context())
			return "rows"
		}}).Parse("{{rows}}"))
		var b strings.Builder
		if err := page.Execute(&b, nil); err != nil {
			http.Error(w, "the page is invalid", http.StatusUnprocessableEntity)
			return
		}
		io.WriteString(w, b.String())
	})
	s := httptest.NewServer(Middleware(rt, Options{Name: func(*http.Request) string { return "page" }})(h))
	defer s.Close()
	if got := got(s, "GET"); got != "refused" {
		t.Errorf("the client gets %q; want the throw's response", got)
	}
}

// TestDecidedAfterThrow checks that a response that the handler decides after a throw has ended its
// context, or refused one of its calls, is replaced as for any throw: whatever status the handler
// chooses, and whatever it writes after that.
func TestDecidedAfterThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{StallAfter: -1})
	waits := map[string]func(ctx context.Context){
		"its context ends": func(ctx context.Context) {
			time.AfterFunc(time.Millisecond, cocoon.TaskOf(ctx).Cancel)
			<-ctx.Done()
		},
		"in Block": func(ctx context.Context) {
			cocoon.Block(ctx, func() error {
				cocoon.TaskOf(ctx).Cancel()
				<-ctx.Done()
				return ctx.Err()
			})
		},
		"a call is refused": func(ctx context.Context) {
			cocoon.TaskOf(ctx).Cancel()
			cocoon.BlockCall(ctx, func() error { return nil })
		},
	}
	large := strings.Repeat("x", 3*holdSize)
	answers := map[string]func(w http.ResponseWriter){
		"nothing": func(http.ResponseWriter) {},
		"200":     func(w http.ResponseWriter) { io.WriteString(w, "what was left") },
		"a length": func(w http.ResponseWriter) {
			w.Header().Set("Content-Length", "4")
			io.WriteString(w, "half")
		},
		"a redirect": func(w http.ResponseWriter) { w.Header().Set("Location", "/"); w.WriteHeader(302) },
		"no content": func(w http.ResponseWriter) { w.WriteHeader(204) },
		"large":      func(w http.ResponseWriter) { io.WriteString(w, large) },
		"flushed":    func(w http.ResponseWriter) { io.WriteString(w, "half"); http.NewResponseController(w).Flush() },
	}
	for _, status := range []int{408, 499, 500, 502, 503, 504} {
		answers[fmt.Sprint(status)] = func(w http.ResponseWriter) { http.Error(w, "too late", status) }
	}
	for when, wait := range waits {
		for what, answer := range answers {
			for protocol, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
				t.Run(when+" "+what+" "+protocol, func(t *testing.T) {
					s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
						w.Header().Set("Cache-Control", "max-age=3600")
						wait(r.Context())
						answer(w)
					}, change...)
					same(t, got(s, "GET"), "refused")
				})
			}
		}
	}
}

// TestProxyAfterThrow checks a proxy, which takes the end of its context for a fault of its
// upstream, with and without Block.
func TestProxyAfterThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	upstream := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/half" {
			io.WriteString(w, "half of it")
			w.(http.Flusher).Flush()
		}
		<-r.Context().Done()
	}))
	to, err := url.Parse(upstream.URL)
	tasktest.Must(t, err)
	for name, transport := range map[string]http.RoundTripper{"plain": upstream.Client().Transport, "Transport": &Transport{Base: upstream.Client().Transport}} {
		for path, want := range map[string]string{"/": "refused", "/half": "cut"} {
			for _, block := range []bool{false, true} {
				t.Run(fmt.Sprint(name, path, block), func(t *testing.T) {
					proxy := &httputil.ReverseProxy{Transport: transport, ErrorLog: quiet, FlushInterval: -1, Rewrite: func(r *httputil.ProxyRequest) {
						r.SetURL(to)
						r.Out.URL.Path = path
					}}
					s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
						time.AfterFunc(30*time.Millisecond, cocoon.TaskOf(r.Context()).Cancel)
						if !block {
							proxy.ServeHTTP(w, r)
							return
						}
						cocoon.Block(r.Context(), func() error { proxy.ServeHTTP(w, r); return nil })
					})
					same(t, got(s, "GET"), want)
				})
			}
		}
	}
}

// TestEndedWhileUnwinding checks that a response that deferred functions complete while a throw
// unwinds them is not sent, and does not count as a response.
func TestEndedWhileUnwinding(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for name, last := range map[string]func(w http.ResponseWriter){
		"a flush":      func(w http.ResponseWriter) { http.NewResponseController(w).Flush() },
		"a large rest": func(w http.ResponseWriter) { w.Write(make([]byte, 3*holdSize)) },
		"gzip":         func(w http.ResponseWriter) { gzip.NewWriter(w).Close() },
		"a copy":       func(w http.ResponseWriter) { io.Copy(w, strings.NewReader(strings.Repeat("x", 3*holdSize))) },
	} {
		t.Run(name, func(t *testing.T) {
			s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
				defer last(w)
				io.WriteString(w, "half")
				throwInto(r.Context())
			})
			same(t, got(s, "GET"), "refused")
		})
	}
}

// compressor writes nothing before its Close, as compressing writers do that wait for enough input.
type compressor struct {
	http.ResponseWriter
	status int
	kept   []byte
}

func (c *compressor) WriteHeader(status int) { c.status = status }

func (c *compressor) Write(p []byte) (int, error) {
	c.kept = append(c.kept, p...)
	return len(p), nil
}

func (c *compressor) Close() {
	c.ResponseWriter.WriteHeader(c.status)
	c.ResponseWriter.Write(c.kept)
}

// TestDecidedWhileUnwinding checks that a writer inside the handler that decides while the throw
// unwinds has an incomplete response, whatever its status, and whatever surrounding code recovers
// the throw. Code that recovers the throw and then decides has a response of its own.
func TestDecidedWhileUnwinding(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for name, c := range map[string]struct {
		inside  int
		recover func(w http.ResponseWriter)
		want    string
	}{
		"200":               {200, func(http.ResponseWriter) {}, "refused"},
		"200, then 500":     {200, func(w http.ResponseWriter) { w.WriteHeader(500) }, "refused"},
		"404, then 500":     {404, func(w http.ResponseWriter) { w.WriteHeader(500) }, "refused"},
		"nothing, then 422": {0, func(w http.ResponseWriter) { w.WriteHeader(422); io.WriteString(w, "mine") }, "422 mine"},
	} {
		t.Run(name, func(t *testing.T) {
			s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
				defer func() {
					recover()
					c.recover(w)
				}()
				if c.inside != 0 {
					inside := &compressor{ResponseWriter: w, status: c.inside}
					defer inside.Close()
					io.WriteString(inside, "half")
				}
				throwInto(r.Context())
			})
			same(t, got(s, "GET"), c.want)
		})
	}
}

// TestAbortRecoveredAround checks that a surrounding middleware that recovers all panics does not
// turn a cut response into a whole one.
func TestAbortRecoveredAround(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	inner := Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Write(make([]byte, 3*holdSize))
		w.(http.Flusher).Flush()
		throwInto(r.Context())
	}))
	for protocol, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
		t.Run(protocol, func(t *testing.T) {
			s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				defer func() { recover() }()
				inner.ServeHTTP(w, r)
			}), change...)
			same(t, got(s, "POST"), "cut")
		})
	}
}
