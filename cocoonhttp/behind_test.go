package cocoonhttp

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestGoroutineLeftBehind checks that a goroutine which writes a handler's response does no harm
// when a throw unwinds the handler, which would have waited for it: the goroutine's later writes
// fail, and no client gets bytes of another request.
func TestGoroutineLeftBehind(t *testing.T) {
	for protocol, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
		t.Run(protocol, func(t *testing.T) {
			rt := tasktest.Start(t, cocoon.Config{QuietThrows: true})
			if _, err := rt.RegisterTimeLimit(cocoon.TimeLimit{Func: "unmatched", Limit: time.Millisecond}); err != nil {
				t.Fatal(err)
			}
			var behind sync.WaitGroup
			s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
				letter := []byte(r.URL.Query().Get("letter"))
				var done sync.WaitGroup
				done.Add(1)
				behind.Go(func() {
					defer done.Done()
					for range 100 {
						if _, err := w.Write(bytes.Repeat(letter, 600)); err == nil {
							http.NewResponseController(w).Flush()
						}
					}
				})
				for begun := time.Now(); time.Since(begun) < 2*time.Millisecond; {
					cocoon.SafePoint(r.Context())
				}
				done.Wait()
			}, change...)
			t.Cleanup(behind.Wait)
			var clients sync.WaitGroup
			for i := range 4 {
				letter := string(rune('a' + i))
				clients.Go(func() {
					for range longtest.Count(100, 5) {
						whole(t, s, letter)
					}
				})
			}
			clients.Wait()
		})
	}
}

// whole gets a response, which must be whole, cut, or a refusal, and have no letters but one.
func whole(t *testing.T, s *httptest.Server, letter string) {
	resp, err := s.Client().Get(s.URL + "?letter=" + letter)
	if err != nil {
		return // reset
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	switch {
	case resp.StatusCode == http.StatusServiceUnavailable:
		if want := http.StatusText(resp.StatusCode) + "\n"; err != nil || string(body) != want {
			t.Errorf("a refusal has the body %.40q, %v; want %q", body, err, want)
		}
	case len(bytes.Trim(body, letter)) > 0:
		t.Errorf("a response has bytes of another one")
	case err == nil && len(body) != 60_000:
		t.Errorf("a response of %d bytes ends without an error; want 60000", len(body))
	}
}
