package cocoonhttp

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
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
	waiters(t, loop, &others)
	post(t, s, size)
	if n := changes.Load(); n > size/20 {
		t.Errorf("other tasks ran between %d of %d reads", n, size)
	}
}

// TestSmallBody checks that a handler that reads a small body, which has arrived with the header,
// does not change places with a waiting task.
func TestSmallBody(t *testing.T) {
	const size, requests = 2000, 100
	loop := tasktest.Start(t, cocoon.Config{Slots: 1}).Loop()
	var others, changes atomic.Int64
	s := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
		before := others.Load()
		if b, err := io.ReadAll(r.Body); len(b) != size || err != nil {
			t.Errorf("the handler read %d bytes: %v; want %d", len(b), err, size)
		}
		if others.Load() != before {
			changes.Add(1)
		}
	})
	waiters(t, loop, &others)
	for range requests {
		post(t, s, size)
	}
	if n := changes.Load(); n > requests/4 {
		t.Errorf("other tasks ran during %d of %d handlers", n, requests)
	}
}

// waiters keeps two tasks running or waiting for a slot until the test's end, and counts the tasks
// that have run.
func waiters(t *testing.T, loop *cocoon.Loop, ran *atomic.Int64) {
	var over atomic.Bool
	var waiting sync.WaitGroup
	for range 2 {
		waiting.Go(func() {
			for !over.Load() {
				tasktest.Must(t, loop.Run(context.Background(), "other", func(context.Context) error { ran.Add(1); return nil }))
			}
		})
	}
	t.Cleanup(func() { over.Store(true); waiting.Wait() })
}

// post sends a body of that many bytes, and reads the response.
func post(t *testing.T, s *httptest.Server, size int) {
	t.Helper()
	resp, err := s.Client().Post(s.URL, "text/plain", strings.NewReader(strings.Repeat("x", size)))
	tasktest.Must(t, err)
	_, err = io.Copy(io.Discard, resp.Body)
	tasktest.Must(t, err)
	resp.Body.Close()
}
