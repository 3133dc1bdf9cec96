package wire

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/net/http2"

	"github.com/cocoon-go/cocoon/cocoon"
)

// A stream may end while the server's own goroutine writes an informational answer: the header is not changed under its hands, which
// only the race detector sees.
func TestHeaderWhileHintsAreWritten(t *testing.T) {
	ended := make(chan struct{})
	to := serve(t, tasks(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		for range 1000 {
			w.Header().Add("Link", strings.Repeat("x", 10_000))
		}
		w.WriteHeader(http.StatusEarlyHints) // more than the client takes
		cocoon.TaskOf(r.Context()).Cancel()
		cocoon.SafePoint(r.Context())
	})))
	c := dial(t, to, http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: 1 << 30})
	c.ask(1, "GET", "/", true)
	var first [1]byte
	for range 100 { // until the hints are on their way, behind the settings
		_, err := c.Read(first[:])
		must(t, err)
	}
	must(t, c.WriteRSTStream(1, http2.ErrCodeCancel))
	<-ended
}
