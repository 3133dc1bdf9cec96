package cocoonhttp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestWriterThatCannotFlush checks that an HTTP/1.0 client gets all of a large response when
// surrounding middleware has a writer that cannot flush.
func TestWriterThatCannotFlush(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	want := strings.Repeat("x", 10*partSize)
	text := []byte(want)
	for name, write := range map[string]func(w http.ResponseWriter) error{
		"bytes":  func(w http.ResponseWriter) error { _, err := w.Write(text); return err },
		"string": func(w http.ResponseWriter) error { _, err := io.WriteString(w, want); return err },
		"pieces": func(w http.ResponseWriter) error {
			for piece := range strings.SplitSeq(want, "") {
				if _, err := io.WriteString(w, piece); err != nil {
					return err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, http.TimeoutHandler(Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if err := write(w); err != nil {
					t.Error(err)
				}
			})), tasktest.Patience, ""))
			c, r := dial(t, s)
			send(t, c, "GET / HTTP/1.0\r\n\r\n")
			resp, err := http.ReadResponse(r, nil)
			tasktest.Must(t, err)
			defer resp.Body.Close()
			if body, err := io.ReadAll(resp.Body); err != nil || string(body) != want {
				t.Errorf("%d bytes of %d, %v", len(body), len(want), err)
			}
		})
	}
}

// TestRefusalAfterHints checks that a refusal after an informational response never looks like a
// success: http.TimeoutHandler takes the informational status for that of the response.
func TestRefusalAfterHints(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	h := Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusEarlyHints)
		throwInto(r.Context())
	}))
	for protocol, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
		same(t, got(serve(t, h, change...), "GET"), "refused")
		same(t, got(serve(t, http.TimeoutHandler(h, tasktest.Patience, ""), change...), "GET"), "cut")
		if t.Failed() {
			t.Fatal(protocol)
		}
	}
}
