package cocoonhttp

import (
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestManyStreams checks that many streams of one HTTP/2 connection wait, run and are thrown into
// concurrently.
func TestManyStreams(t *testing.T) {
	rt, loop := tasktest.OneSlot(t)
	const streams = 200
	s := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if string(body) == "throw" {
			throwInto(r.Context())
		}
		w.Write(body)
	}, http2)
	// All streams find a connection. Otherwise each client would begin one of its own.
	if resp, err := s.Client().Post(s.URL, "", nil); err != nil {
		t.Fatal(err)
	} else {
		io.Copy(io.Discard, resp.Body)
		resp.Body.Close()
	}
	var all sync.WaitGroup
	feeds := make([]*io.PipeWriter, streams)
	for i := range streams {
		var body *io.PipeReader
		body, feeds[i] = io.Pipe()
		all.Go(func() {
			resp, err := s.Client().Post(s.URL, "", body)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			got, err := io.ReadAll(resp.Body)
			want := fmt.Sprint(200, " ", i, "<nil>")
			if i%3 == 0 {
				want = "503 Service Unavailable\n<nil>"
			}
			if text := fmt.Sprint(resp.StatusCode, " ", string(got), err); text != want {
				t.Errorf("stream %d: %q; want %q", i, text, want)
			}
		})
	}
	tasktest.Eventually(t, "all streams to wait for their bodies", func() bool {
		return rt.Stats().Tasks == streams && busy(rt) == 0
	})
	for i, feed := range feeds {
		text := fmt.Sprint(i)
		if i%3 == 0 {
			text = "throw"
		}
		if _, err := io.WriteString(feed, text); err != nil {
			t.Error(err)
		}
		feed.Close()
	}
	all.Wait()
}
