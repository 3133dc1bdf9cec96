package cocoonhttp

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestStoppedOnce checks that a client does not send a request again after a throw has stopped its
// handler. Clients send a GET again if a connection that they have used before ends without a byte.
func TestStoppedOnce(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for _, size := range []int{0, holdSize, holdSize + 1, 3000, sentAt, sentAt + 1, 3 * partSize} {
		var runs atomic.Int32
		s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/first" {
				return
			}
			runs.Add(1)
			for range size {
				io.WriteString(w, "x")
			}
			throwInto(r.Context())
		})
		for _, path := range []string{"/first", "/stopped"} {
			resp, err := s.Client().Get(s.URL + path)
			if err != nil {
				t.Errorf("%d bytes, %s: %v", size, path, err)
				continue
			}
			b, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if path == "/stopped" && err == nil && (resp.StatusCode != 503 || strings.Contains(string(b), "xx")) {
				t.Errorf("%d bytes: the client took half a response for a whole one", size)
			}
		}
		if n := runs.Load(); n != 1 {
			t.Errorf("%d bytes: the handler ran %d times for one request", size, n)
		}
	}
}
