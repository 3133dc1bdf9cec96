package cocoonhttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// A handler keeps its slot while it writes and its client reads, although another task waits for
// the slot.
func TestWritesKeepTheSlot(t *testing.T) {
	large := make([]byte, 2*holdSize)
	for name, write := range map[string]func(w http.ResponseWriter) error{
		"write": func(w http.ResponseWriter) error { _, err := w.Write(large); return err },
		"held":  func(w http.ResponseWriter) error { _, err := w.Write(large[:holdSize-1]); return err },
		"flush": func(w http.ResponseWriter) error { return http.NewResponseController(w).Flush() },
	} {
		t.Run(name, func(t *testing.T) {
			kept, lost := 0, 0 // a collection may have the handler wait
			for kept+lost < 10 {
				// A fresh runtime has not learned that the handler waits.
				rt := tasktest.Start(t, cocoon.Config{Slots: 1, StallAfter: time.Hour})
				var other atomic.Bool
				var done sync.WaitGroup
				Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					done.Go(func() {
						rt.Run(t.Context(), "other", func(context.Context) error { other.Store(true); return nil })
					})
					for rt.Stats().Loops[0].Queued == 0 && !other.Load() { // no pause: it would be found waiting
					}
					if other.Load() {
						return // the handler waited for a lock
					}
					for range 10 { // a moment: others do not wait for long
						tasktest.Must(t, write(w))
					}
					if other.Load() {
						lost++
					} else {
						kept++
					}
				})).ServeHTTP(&sink{http.Header{}}, httptest.NewRequest("GET", "/", nil))
				done.Wait()
			}
			if lost > kept {
				t.Errorf("another task had the slot meanwhile %d of %d times", lost, lost+kept)
			}
		})
	}
}

// Any number of clients that do not read delays no other request. The buffers are small, because
// the handlers fill all of them.
func TestManyClientsNeverRead(t *testing.T) {
	for name, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rt := tasktest.Start(t, cocoon.Config{Slots: 1})
			const clients = 64
			var written atomic.Int64
			s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
				for r.URL.Path == "/endless" {
					n, err := w.Write(make([]byte, 1<<14))
					if written.Add(int64(n)); err != nil {
						return
					}
				}
			}, append(change, func(s *httptest.Server) {
				s.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
					if tcp, ok := c.(*net.TCPConn); ok {
						_ = tcp.SetWriteBuffer(1 << 16)
					}
					return ctx
				}
			})...)
			transport := s.Client().Transport.(*http.Transport)
			transport.HTTP2 = &http.HTTP2Config{MaxReceiveBufferPerStream: 1 << 17}
			transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, address)
				if err == nil {
					err = c.(*net.TCPConn).SetReadBuffer(1 << 16)
				}
				return c, err
			}
			for range clients {
				resp, err := s.Client().Get(s.URL + "/endless")
				tasktest.Must(t, err)
				defer resp.Body.Close()
			}
			for range 20 {
				get(t, s, "/")
			}
			tasktest.Eventually(t, "all tasks to wait for their clients", func() bool { return rt.Stats().Tasks == clients && busy(rt) == 0 })
			get(t, s, "/")
			tasktest.Must(t, rt.Shutdown(past()))
		})
	}
}

// An open stream holds no buffer between two flushes.
func TestFlushGivesBufferBack(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "event")
		a := w.(flusher).live()
		if a.buffer == nil {
			t.Error("nothing is held back")
		}
		if w.(http.Flusher).Flush(); a.buffer != nil {
			t.Error("the buffer is kept")
		}
		io.WriteString(w, "another")
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest("GET", "/", nil))
}

// Small writes are collected: after the first 4 KiB they go out in parts of partSize, and the rest
// when the handler returns. A write that is larger than a part goes out by itself.
func TestSmallWritesAreCollected(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	line := strings.Repeat("x", 99) + "\n"
	for name, test := range map[string]struct {
		writes []int
		want   []int
	}{
		"lines":         {slices.Repeat([]int{100}, 300), []int{2000, 500, 500, 500, 500, 500, 8100, 8100, 8100, 1200}},
		"large":         {[]int{100, 30_000, 100, 30_000}, []int{100, 30_000, 100, 30_000}},
		"exactly parts": {[]int{2048, 8192, 8192}, []int{2048, 8192, 8192}},
	} {
		var got []int
		sent := &countingWriter{ResponseRecorder: httptest.NewRecorder(), sizes: &got}
		var want strings.Builder
		Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			for _, n := range test.writes {
				part := strings.Repeat(line, n/len(line)+1)[:n]
				want.WriteString(part)
				if m, err := io.WriteString(w, part); m != n || err != nil {
					t.Errorf("%s: a write of %d bytes: %d, %v", name, n, m, err)
				}
			}
		})).ServeHTTP(sent, httptest.NewRequest("GET", "/", nil))
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: sent %v, want %v", name, got, test.want)
		}
		if sent.Body.String() != want.String() {
			t.Errorf("%s: the body is not what the handler wrote", name)
		}
	}
}

type countingWriter struct {
	*httptest.ResponseRecorder
	sizes *[]int
}

func (w *countingWriter) Write(p []byte) (int, error) {
	*w.sizes = append(*w.sizes, len(p))
	return w.ResponseRecorder.Write(p)
}

func (w *countingWriter) WriteString(s string) (int, error) {
	*w.sizes = append(*w.sizes, len(s))
	return w.ResponseRecorder.WriteString(s)
}

// A handler that aborts its response because a write returned a throw, as proxies do, causes no log
// line of a panic.
func TestAbortAfterThrowLogsNoPanic(t *testing.T) {
	var log bytes.Buffer
	rt, err := cocoon.New(cocoon.Config{Logger: slog.New(slog.NewTextHandler(&log, nil))})
	tasktest.Must(t, err)
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader("version: 1\nlimits: [{func: copy, limit: 5ms}]\n")))
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		_, err := cocoon.Section(r.Context(), "copy", func() (int, error) {
			for {
				if _, err := w.Write(make([]byte, 2*holdSize)); err != nil {
					panic(http.ErrAbortHandler)
				}
			}
		})
		var thrown *cocoon.PreemptedError
		if !errors.As(err, &thrown) || thrown.Panic() != nil {
			t.Errorf("the section returned %v", err)
		}
	})
	for range 3 {
		_, body := get(t, s, "/")
		if body == "" {
			t.Error("an empty response")
		}
	}
	tasktest.Must(t, rt.Shutdown(t.Context())) // it writes the lines
	if strings.Contains(log.String(), "another panic") {
		t.Error(log.String())
	}
}
