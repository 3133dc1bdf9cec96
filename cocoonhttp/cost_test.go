package cocoonhttp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
)

// sink is a writer with the optional interfaces of a server's writer, and no cost.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header                          { return s.header }
func (s *sink) Write(p []byte) (int, error)                  { return len(p), nil }
func (s *sink) WriteHeader(int)                              {}
func (s *sink) Flush()                                       {}
func (s *sink) Hijack() (net.Conn, *bufio.ReadWriter, error) { return nil, nil, http.ErrNotSupported }

// BenchmarkMiddleware measures what the middleware costs a request, without a server around it. The
// http benchmark in bench measures it with a server.
func BenchmarkMiddleware(b *testing.B) {
	rt, err := cocoon.New(cocoon.Config{KeepProcs: true, Breath: -1})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { rt.Shutdown(context.Background()) })
	mux := http.NewServeMux()
	mux.HandleFunc("GET /hello", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "hello, world") })
	mux.HandleFunc("GET /write", func(w http.ResponseWriter, r *http.Request) { w.Write(make([]byte, 16<<10)) })
	mux.HandleFunc("GET /lines", func(w http.ResponseWriter, r *http.Request) {
		for i := range 1000 {
			fmt.Fprintf(w, "line of text %3d\n", i)
		}
	})
	mux.HandleFunc("GET /flushes", func(w http.ResponseWriter, r *http.Request) {
		for range 10 {
			io.WriteString(w, "hello, world")
			w.(http.Flusher).Flush()
		}
	})
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), http.ServerContextKey, new(http.Server)))
	b.Cleanup(cancel)
	for _, path := range []string{"/hello", "/write", "/lines", "/flushes"} {
		for _, c := range []struct {
			name    string
			handler http.Handler
		}{
			{"without", mux},
			{"with", Middleware(rt, Options{})(mux)},
		} {
			b.Run(path[1:]+" "+c.name, func(b *testing.B) {
				r, err := http.NewRequestWithContext(ctx, "GET", path, http.NoBody)
				if err != nil {
					b.Fatal(err)
				}
				w := &sink{http.Header{}}
				b.ReportAllocs()
				for b.Loop() {
					c.handler.ServeHTTP(w, r)
				}
			})
		}
	}
}
