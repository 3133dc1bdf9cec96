package wire

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/cocoon-go/cocoon/cocoon"
)

// A stream may end while the server's own goroutine encodes an informational answer: the header is
// not changed under its hands. The race detector tells, or the runtime itself.
func TestHeaderWhileHintsAreWritten(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	to := serve(t, tasks(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		text := strings.Repeat("x", 20_000)
		for i := range 1000 { // which takes a while to encode
			w.Header().Set(fmt.Sprint("X-", i), text)
		}
		close(begun)
		w.WriteHeader(http.StatusEarlyHints)
		cocoon.TaskOf(r.Context()).Cancel()
		cocoon.SafePoint(r.Context())
	})))
	c := dial(t, to, http2.Setting{ID: http2.SettingMaxHeaderListSize, Val: 1 << 30})
	c.ask(1, "GET", "/", true)
	<-begun
	time.Sleep(10 * time.Millisecond)
	must(t, c.WriteRSTStream(1, http2.ErrCodeCancel))
	<-ended
}
