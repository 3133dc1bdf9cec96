package wire

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestHeaderWhileHintsAreWritten checks that the header is not changed while the server's own
// goroutine encodes an informational response, even if the stream ends meanwhile. The race detector
// or the runtime itself reports a violation.
func TestHeaderWhileHintsAreWritten(t *testing.T) {
	begun, ended := make(chan struct{}), make(chan struct{})
	to := serve(t, tasks(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		text := strings.Repeat("x", 20_000)
		for i := range 1000 { // enough to take a while to encode
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
	tasktest.Must(t, c.WriteRSTStream(1, http2.ErrCodeCancel))
	<-ended
}
