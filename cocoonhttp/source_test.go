package cocoonhttp

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// kernels is a listener with connections that count the copies that the kernel could do.
type kernels struct {
	net.Listener
	copies atomic.Int64
}

type kernelConn struct {
	net.Conn
	copies *atomic.Int64
}

func (k *kernels) Accept() (net.Conn, error) {
	c, err := k.Listener.Accept()
	return kernelConn{c, &k.copies}, err
}

// ReadFrom implements io.ReaderFrom, as *net.TCPConn does.
func (c kernelConn) ReadFrom(src io.Reader) (int64, error) {
	from := src
	if limited, ok := src.(*io.LimitedReader); ok {
		from = limited.R
	}
	if _, ok := from.(syscall.Conn); ok {
		c.copies.Add(1)
	}
	return io.Copy(struct{ io.Writer }{c.Conn}, struct{ io.Reader }{src})
}

// TestFilesBySendfile checks that the kernel sends a file in every case in which it does so without
// the middleware.
func TestFilesBySendfile(t *testing.T) {
	text := strings.Repeat("0123456789", 50_000)
	file := filepath.Join(t.TempDir(), "file")
	tasktest.Must(t, os.WriteFile(file, []byte(text), 0o600))
	open := func() *os.File {
		f, err := os.Open(file)
		tasktest.Must(t, err)
		return f
	}
	rt := tasktest.Start(t, cocoon.Config{})
	for name, h := range map[string]http.HandlerFunc{
		"ServeFile": func(w http.ResponseWriter, r *http.Request) { http.ServeFile(w, r, file) },
		"Copy":      func(w http.ResponseWriter, r *http.Request) { f := open(); defer f.Close(); io.Copy(w, f) },
		"CopyN": func(w http.ResponseWriter, r *http.Request) {
			f := open()
			defer f.Close()
			io.CopyN(w, f, int64(len(text)))
		},
		"WriteTo": func(w http.ResponseWriter, r *http.Request) { f := open(); defer f.Close(); f.WriteTo(w) },
	} {
		t.Run(name, func(t *testing.T) {
			var k *kernels
			s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Length", strconv.Itoa(len(text)))
				w.Header().Set("Content-Type", "text/plain")
				h(w, r)
			}, func(s *httptest.Server) { k = &kernels{Listener: s.Listener}; s.Listener = k })
			if _, body := get(t, s, "/"); body != text {
				t.Errorf("%d bytes", len(body))
			}
			if n := k.copies.Load(); n != 1 {
				t.Errorf("the kernel had %d files to send; want 1", n)
			}
		})
	}
}

// TestCopyWaits checks that copying from a pipe or a connection is a wait: other tasks run
// meanwhile, a throw ends the copy, and the source has no deadline afterwards.
func TestCopyWaits(t *testing.T) {
	for name, make := range map[string]func() (from io.ReadCloser, to io.WriteCloser){
		"a pipe": func() (io.ReadCloser, io.WriteCloser) {
			r, w, err := os.Pipe()
			tasktest.Must(t, err)
			return r, w
		},
		"a connection": func() (io.ReadCloser, io.WriteCloser) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			tasktest.Must(t, err)
			defer l.Close()
			w, err := net.Dial("tcp", l.Addr().String())
			tasktest.Must(t, err)
			r, err := l.Accept()
			tasktest.Must(t, err)
			return r, w
		},
		"a synchronous one": func() (io.ReadCloser, io.WriteCloser) { return net.Pipe() },
	} {
		for how, copy := range map[string]func(w io.Writer, from io.Reader) (int64, error){
			"Copy":  func(w io.Writer, from io.Reader) (int64, error) { return io.Copy(w, from) },
			"CopyN": func(w io.Writer, from io.Reader) (int64, error) { return io.CopyN(w, from, 100) },
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				rt, loop := tasktest.OneSlot(t)
				from, to := make()
				defer from.Close()
				defer to.Close()
				var task atomic.Pointer[cocoon.Task]
				s := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
					if r.Method == "POST" {
						return
					}
					task.Store(cocoon.TaskOf(r.Context()))
					if _, err := copy(w, from); !errors.Is(err, cocoon.ErrCancelled) {
						t.Errorf("the copy came back with %v", err)
					}
				})
				answer := receive1(func() string { return got(s, "GET") })
				waits(t, rt)
				same(t, got(s, "POST"), "200 ")
				waits(t, rt)
				task.Load().Cancel()
				same(t, tasktest.Receive(t, "the response", answer), "refused")
				go func() { time.Sleep(5 * time.Millisecond); io.WriteString(to, "more") }()
				b := [4]byte{}
				if n, err := io.ReadFull(from, b[:]); err != nil {
					t.Errorf("the source afterwards: %d bytes, %v", n, err)
				}
			})
		}
	}
}

// receive1 calls fn in a goroutine, and returns a channel for its result.
func receive1[T any](fn func() T) <-chan T {
	c := make(chan T, 1)
	go func() { c <- fn() }()
	return c
}
