package cocoonhttp

import (
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestConnectionLivesOnAfterItsBody checks that a connection is reused after a response to a throw,
// if every wait for the client had ended by then and so was not cut off.
func TestConnectionLivesOnAfterItsBody(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		if string(body) == "throw" {
			throwInto(r.Context())
		}
		w.Write(body)
	})
	c, r := dial(t, s)
	for range 20 {
		for _, body := range []string{"throw", "hello"} {
			send(t, c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n"+body)
			resp, err := http.ReadResponse(r, nil)
			tasktest.Must(t, err)
			got, err := io.ReadAll(resp.Body)
			tasktest.Must(t, err)
			want := map[string]string{"hello": "hello", "throw": "Service Unavailable\n"}[body]
			if string(got) != want || resp.Close {
				t.Fatalf("%s: %d %q, closes: %t; want %q", body, resp.StatusCode, got, resp.Close, want)
			}
		}
	}
}

// TestThrowUnheard checks that the client gets the response of a handler that returns before it
// notices a throw.
func TestThrowUnheard(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Length", strconv.Itoa(2*holdSize+5))
		io.WriteString(w, strings.Repeat("x", 2*holdSize))
		w.(http.Flusher).Flush()
		if r.Method == "POST" {
			cocoon.TaskOf(r.Context()).Cancel()
			<-r.Context().Done()
			for range 1000 {
				runtime.Gosched() // lets the goroutines run that the end of the context has started
			}
		}
		io.WriteString(w, "whole") // it is held back, so it is no safe point
	})
	c, r := dial(t, s)
	for range 20 {
		for _, request := range []string{"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\nx", "GET / HTTP/1.1\r\nHost: a\r\n\r\n"} {
			send(t, c, request)
			resp, err := http.ReadResponse(r, nil)
			tasktest.Must(t, err)
			if body, err := io.ReadAll(resp.Body); err != nil || !strings.HasSuffix(string(body), "xwhole") {
				t.Fatalf("%.5s: %d bytes, %v", request, len(body), err)
			}
		}
	}
}

// TestThrowWithBodyUnread checks that a throw does not wait for the rest of a body that the handler
// has begun to read, and that the connection ends with the response.
func TestThrowWithBodyUnread(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		io.ReadFull(r.Body, make([]byte, 4))
		throwInto(r.Context())
	})
	c, r := dial(t, s)
	send(t, c, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
	resp, err := http.ReadResponse(r, nil)
	tasktest.Must(t, err)
	if body, err := io.ReadAll(resp.Body); resp.StatusCode != 503 || !resp.Close || err != nil {
		t.Errorf("%d %q, closes: %t, %v", resp.StatusCode, body, resp.Close, err)
	}
	if _, err := r.ReadByte(); err != io.EOF {
		t.Errorf("the connection: %v", err)
	}
}

// late is the connection of a client whose last bytes arrive just as a throw cuts it off.
type late struct {
	*httptest.ResponseRecorder
	throw   func()
	cut     chan struct{}
	cutOnce func() // closes cut
}

func (l late) SetReadDeadline(time.Time) error { l.cutOnce(); return nil }
func (l late) Close() error                    { return nil }
func (l late) Read(p []byte) (int, error) {
	l.throw()
	<-l.cut
	return copy(p, "late"), io.EOF
}

// TestCutOffConnectionEnds checks that a connection is not used again after its deadline, even if
// it looks intact.
func TestCutOffConnectionEnds(t *testing.T) {
	_, loop := tasktest.OneSlot(t)
	for name, read := range map[string]func(w http.ResponseWriter, r *http.Request){
		"by the task": func(w http.ResponseWriter, r *http.Request) { io.ReadAll(r.Body) },
		"by a goroutine of the handler": func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(503)
			done := make(chan struct{})
			go func() { defer close(done); io.ReadAll(r.Body) }()
			<-done
		},
	} {
		var task *cocoon.Task
		cut := make(chan struct{})
		l := late{httptest.NewRecorder(), func() { task.Cancel() }, cut, sync.OnceFunc(func() { close(cut) })}
		r := httptest.NewRequest("POST", "/", l)
		Middleware(loop, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			task = cocoon.TaskOf(r.Context())
			read(w, r)
		})).ServeHTTP(l, r)
		if l.Code != 503 || l.Result().Header.Get("Connection") != "close" {
			t.Errorf("%s: %d %v", name, l.Code, l.Result().Header)
		}
	}
}

// TestCutDoesNotWaitForBody checks that a response that had begun is cut at once, even if none of
// it may have left the server: net/http would wait for the rest of the body first, and the client
// for the server.
func TestCutDoesNotWaitForBody(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/duplex" {
			http.NewResponseController(w).EnableFullDuplex()
			w.(http.Flusher).Flush()
		}
		w.Write(make([]byte, holdSize-500))
		w.Write(make([]byte, 1000)) // now the server has the first bytes
		throwInto(r.Context())
	})
	for name, request := range map[string]string{
		"half a body":  "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf",
		"no chunk yet": "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n",
		"Expect":       "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n",
		"full duplex":  "POST /duplex HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			c, r := dial(t, s)
			send(t, c, request)
			ended := receive1(func() error { _, err := io.Copy(io.Discard, r); return err })
			if err := tasktest.Receive(t, "the end of the connection", ended); err != nil && !strings.Contains(err.Error(), "reset") {
				t.Error(err)
			}
		})
	}
}
