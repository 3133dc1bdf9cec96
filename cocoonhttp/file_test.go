package cocoonhttp

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// A copy of a file decides on the response only when there is something to send, as with net/http:
// if the file is empty or cannot be read, the handler can still respond with an error. A small file
// has a length.
func TestCopyOfAFileDecidesLate(t *testing.T) {
	folder := t.TempDir()
	write := func(name string, size int) string {
		path := filepath.Join(folder, name)
		tasktest.Must(t, os.WriteFile(path, make([]byte, size), 0o600))
		return path
	}
	for name, test := range map[string]struct {
		path   string
		flag   int
		status int
		length int64
	}{
		"empty":         {write("empty", 0), os.O_RDONLY, 404, 10},
		"not readable":  {write("secret", 10), os.O_WRONLY, 404, 10},
		"small":         {write("small", 100), os.O_RDONLY, 200, 100},
		"as it is held": {write("held", holdSize), os.O_RDONLY, 200, holdSize},
		"large":         {write("large", 100_000), os.O_RDONLY, 200, 100_000},
	} {
		handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			f, err := os.OpenFile(test.path, test.flag, 0)
			if err != nil {
				t.Error(err)
				return
			}
			defer f.Close()
			if n, _ := io.Copy(w, f); n == 0 {
				http.Error(w, "not found", 404)
			}
		})
		s := handle(t, tasktest.Start(t, cocoon.Config{}), handler)
		resp, err := s.Client().Get(s.URL)
		tasktest.Must(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != test.status || int64(len(body)) != test.length {
			t.Errorf("%s: status %d, %d bytes, %v; want %d, %d", name, resp.StatusCode, len(body), err, test.status, test.length)
		}
		if test.length < holdSize && resp.ContentLength != test.length {
			t.Errorf("%s: Content-Length %d", name, resp.ContentLength)
		}
	}
}

// A handler that has written 4 KiB and then takes its time has sent the header, as with net/http.
func TestHeaderComesWithTheSecondPart(t *testing.T) {
	until := make(chan struct{})
	s := handle(t, tasktest.Start(t, cocoon.Config{}), func(w http.ResponseWriter, r *http.Request) {
		for range 5 {
			w.Write(make([]byte, 1000))
		}
		cocoon.Block(r.Context(), func() error { <-until; return nil })
	})
	got := make(chan error, 1)
	go func() {
		resp, err := s.Client().Get(s.URL)
		if err == nil {
			defer resp.Body.Close()
		}
		got <- err
	}()
	select {
	case err := <-got:
		tasktest.Must(t, err)
	case <-time.After(10 * time.Second):
		t.Error("no header")
	}
	close(until)
}

// Full duplex takes the length from no response, unless the handler leaves the request's body
// unread.
func TestFullDuplexKeepsTheLength(t *testing.T) {
	s := handle(t, tasktest.Start(t, cocoon.Config{}), func(w http.ResponseWriter, r *http.Request) {
		tasktest.Must(t, http.NewResponseController(w).EnableFullDuplex())
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, "hello")
	})
	for _, method := range []string{"GET", "POST"} {
		request, err := http.NewRequest(method, s.URL, strings.NewReader(strings.Repeat("x", len(method)-3)))
		tasktest.Must(t, err)
		resp, err := s.Client().Do(request)
		tasktest.Must(t, err)
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || string(body) != "hello" || resp.ContentLength != 5 {
			t.Errorf("%s: %q, Content-Length %d, %v", method, body, resp.ContentLength, err)
		}
	}
}
