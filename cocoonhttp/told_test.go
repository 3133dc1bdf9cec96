package cocoonhttp

import (
	"bytes"
	"context"
	"errors"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestCallsTellOfThrow checks that a throw never unwinds the code around a read from or a write to
// the client: the call returns the throw as its error.
func TestCallsTellOfThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	large, text := make([]byte, 2*holdSize), strings.Repeat("x", 2*holdSize)
	for name, call := range map[string]func(w http.ResponseWriter, r *http.Request) error{
		"write": func(w http.ResponseWriter, _ *http.Request) error { _, err := w.Write(large); return err },
		"write string": func(w http.ResponseWriter, _ *http.Request) error {
			_, err := io.WriteString(w, text)
			return err
		},
		"flush": func(w http.ResponseWriter, _ *http.Request) error { return http.NewResponseController(w).Flush() },
		"read":  func(_ http.ResponseWriter, r *http.Request) error { _, err := io.ReadAll(r.Body); return err },
		"close": func(_ http.ResponseWriter, r *http.Request) error { return r.Body.Close() },
		"copy": func(w http.ResponseWriter, _ *http.Request) error {
			_, err := io.Copy(w, bytes.NewReader(large))
			return err
		},
	} {
		for protocol, change := range map[string][]func(*httptest.Server){"HTTP/1": nil, "HTTP/2": {http2}} {
			t.Run(name+" "+protocol, func(t *testing.T) {
				var mu sync.Mutex
				s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
					cocoon.TaskOf(r.Context()).Cancel()
					for range 2 { // twice, for code that looks at the last error only
						mu.Lock()
						err := call(w, r)
						mu.Unlock()
						if !errors.Is(err, cocoon.ErrCancelled) {
							t.Errorf("got %v", err)
						}
					}
				}, change...)
				resp, err := s.Client().Post(s.URL, "", strings.NewReader("body"))
				tasktest.Must(t, err)
				resp.Body.Close()
				if resp.StatusCode != 503 || !mu.TryLock() {
					t.Errorf("%d, or it was unwound", resp.StatusCode)
				}
			})
		}
	}
}

// TestCallsTellOfSectionsThrow checks that calls return a throw into a section in the same way, and
// that the throw ends a section that goes on regardless.
func TestCallsTellOfSectionsThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader("version: 1\nlimits: [{func: step, limit: 1ms}]\n")))
	for name, heeds := range map[string]bool{"heeds": true, "ignores": false} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			ended := make(chan error, 1)
			s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
				_, err := cocoon.Section(r.Context(), "step", func() (int, error) {
					for {
						mu.Lock()
						_, err := w.Write(make([]byte, 2*holdSize))
						mu.Unlock()
						if err != nil && heeds {
							return 0, err
						}
					}
				})
				if heeds && !mu.TryLock() {
					t.Error("it was unwound")
				}
				ended <- err
			})
			resp, err := s.Client().Get(s.URL)
			tasktest.Must(t, err)
			defer resp.Body.Close()
			if _, err := io.Copy(io.Discard, resp.Body); err != nil {
				t.Error(err)
			}
			var p *cocoon.PreemptedError
			if err := tasktest.Receive(t, "the section", ended); !errors.As(err, &p) || p.Section != "step" {
				t.Errorf("the section: %v", err)
			}
		})
	}
}

// TestIgnoredErrorIsNoAnswer checks that a response with lost bytes does not count as whole, even
// if the handler ignores the error.
func TestIgnoredErrorIsNoAnswer(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for name, throw := range map[string]func(ctx context.Context){
		"told":      func(ctx context.Context) { cocoon.TaskOf(ctx).Cancel() },
		"recovered": func(ctx context.Context) { defer func() { recover() }(); throwInto(ctx) },
	} {
		for what, length := range map[string]string{"a length": "5000", "no length": ""} {
			t.Run(name+" "+what, func(t *testing.T) {
				s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
					if length != "" {
						w.Header().Set("Content-Length", length)
					}
					w.WriteHeader(200)
					throw(r.Context())
					for range 5 {
						w.Write(make([]byte, 1000))
					}
				})
				same(t, got(s, "GET"), "refused")
			})
		}
	}
}

// TestStoppedFormLeavesNoFiles checks that the package that parses a form removes the temporary
// files of a form if its upload was stopped halfway.
func TestStoppedFormLeavesNoFiles(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		time.AfterFunc(100*time.Millisecond, cocoon.TaskOf(r.Context()).Cancel)
		if err := r.ParseMultipartForm(1); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
		}
	})
	var form bytes.Buffer
	m := multipart.NewWriter(&form)
	for _, name := range []string{"a", "b"} {
		file, err := m.CreateFormFile(name, name)
		tasktest.Must(t, err)
		file.Write(make([]byte, longtest.Count(11, 1)<<20))
	}
	body, feed := io.Pipe()
	defer feed.Close()
	go feed.Write(form.Bytes()[:form.Len()-1000])
	resp, err := s.Client().Post(s.URL, m.FormDataContentType(), body)
	tasktest.Must(t, err)
	resp.Body.Close()
	left, err := os.ReadDir(dir)
	tasktest.Must(t, err)
	if resp.StatusCode != 503 || len(left) != 0 {
		t.Errorf("%d, and %d files are left", resp.StatusCode, len(left))
	}
}
