package cocoonhttp

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestStoppedOnce checks that a client does not send a request again after a throw has stopped its
// handler. Clients send a GET again if a connection that they have used before ends without a byte.
func TestStoppedOnce(t *testing.T) {
	itself := func(h http.Handler) http.Handler { return h }
	for _, size := range []int{0, holdSize, holdSize + 1, 3000, sentAt, sentAt + 1, 3 * partSize} {
		checkStoppedOnce(t, itself, slices.Repeat([]int{1}, size)...)
	}
	checkStoppedOnce(t, itself, 3500, holdSize) // net/http keeps both in its two buffers
	checkStoppedOnce(t, itself, 3500, mayKeep+1-3500)
}

// TestStoppedOnceBehindABuffer checks the same inside a middleware with a buffer, as of one that
// compresses.
func TestStoppedOnceBehindABuffer(t *testing.T) {
	checkStoppedOnce(t, func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			b := &buffering{w, bufio.NewWriterSize(w, 4*mayKeep)}
			h.ServeHTTP(b, r)
			b.Flush()
		})
	}, 2*mayKeep)
}

// buffering is a response writer with a buffer.
type buffering struct {
	http.ResponseWriter
	buffer *bufio.Writer
}

func (b *buffering) Write(p []byte) (int, error) { return b.buffer.Write(p) }
func (b *buffering) Unwrap() http.ResponseWriter { return b.ResponseWriter }

func (b *buffering) Flush() {
	b.buffer.Flush()
	http.NewResponseController(b.ResponseWriter).Flush()
}

// checkStoppedOnce checks a handler that has made writes of these sizes when the throw comes.
func checkStoppedOnce(t *testing.T, around func(http.Handler) http.Handler, writes ...int) {
	t.Helper()
	var runs atomic.Int32
	h := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/first" {
			return
		}
		runs.Add(1)
		for _, size := range writes {
			w.Write(bytes.Repeat([]byte("x"), size))
		}
		throwInto(r.Context())
	}
	rt := tasktest.Start(t, cocoon.Config{})
	s := serve(t, around(Middleware(rt, Options{})(http.HandlerFunc(h))))
	what := writes[:min(len(writes), 3)]
	for _, path := range []string{"/first", "/stopped"} {
		resp, err := s.Client().Get(s.URL + path)
		if err != nil {
			t.Errorf("%d writes of %v bytes, %s: %v", len(writes), what, path, err)
			continue
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if path == "/stopped" && err == nil && (resp.StatusCode != 503 || strings.Contains(string(b), "xx")) {
			t.Errorf("%d writes of %v bytes: the client took half a response for a whole one", len(writes), what)
		}
	}
	if n := runs.Load(); n != 1 {
		t.Errorf("%d writes of %v bytes: the handler ran %d times for one request", len(writes), what, n)
	}
}
