package cocoonhttp

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestReadsByteByByte checks that a handler that reads a body byte by byte, from the server's
// buffer, does not change places with a waiting task for each byte.
func TestReadsByteByByte(t *testing.T) {
	const size = 20_000
	loop := tasktest.Start(t, cocoon.Config{Slots: 1}).Loop()
	var others, changes atomic.Int64
	s := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
		one, n := make([]byte, 1), 0
		for last := others.Load(); ; {
			if now := others.Load(); now != last {
				changes.Add(1)
				last = now
			}
			k, err := r.Body.Read(one)
			n += k
			if err != nil {
				break
			}
		}
		if n != size {
			t.Errorf("the handler read %d bytes; want %d", n, size)
		}
	})
	var over atomic.Bool
	var waiting sync.WaitGroup
	defer waiting.Wait()
	defer over.Store(true)
	for range 2 {
		waiting.Go(func() {
			for !over.Load() {
				tasktest.Must(t, loop.Run(t.Context(), "other", func(context.Context) error { others.Add(1); return nil }))
			}
		})
	}
	resp, err := s.Client().Post(s.URL, "text/plain", strings.NewReader(strings.Repeat("x", size)))
	tasktest.Must(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	tasktest.Must(t, err)
	resp.Body.Close()
	if n := changes.Load(); n > size/20 {
		t.Errorf("other tasks ran between %d of %d reads", n, size)
	}
}
