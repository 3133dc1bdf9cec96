package cocoonhttp

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// writesOf returns how many times the thread has asked the kernel to write while fn ran.
func writesOf(t *testing.T, fn func() error) (n int) {
	t.Helper()
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	count := func() (n int) {
		text, err := os.ReadFile("/proc/thread-self/io")
		if err != nil {
			t.Skip("the kernel does not count the calls of a thread:", err)
		}
		_, after, _ := strings.Cut(string(text), "syscw:")
		fmt.Sscan(after, &n)
		return n
	}
	before := count()
	if err := fn(); err != nil {
		t.Error(err)
	}
	return count() - before
}

// TestHijackedInKernel checks that the kernel writes several buffers, copies a file and copies
// another connection to a hijacked connection in few calls, as it does without the middleware, and
// that the bytes arrive.
func TestHijackedInKernel(t *testing.T) {
	const pieces, size = 64, 1 << 20
	content := bytes.Repeat([]byte("0123456789abcdef"), size/16)
	name := filepath.Join(t.TempDir(), "file")
	tasktest.Must(t, os.WriteFile(name, content, 0o600))
	for _, c := range []struct {
		name   string
		writes int // at most; the middleware's own copies would need more
		send   func(t *testing.T, to net.Conn) error
	}{
		{"buffers", 40, func(_ *testing.T, to net.Conn) error {
			var b net.Buffers
			for i := range pieces {
				b = append(b, content[i*size/pieces:(i+1)*size/pieces])
			}
			_, err := b.WriteTo(to)
			return err
		}},
		{"file", 24, func(_ *testing.T, to net.Conn) error {
			f, err := os.Open(name)
			if err != nil {
				return err
			}
			defer f.Close()
			_, err = io.Copy(to, f)
			return err
		}},
		{"reader", 1000, func(_ *testing.T, to net.Conn) error {
			_, err := io.Copy(to, io.LimitReader(bytes.NewReader(content), size))
			return err
		}},
		{"connection", 1000, func(t *testing.T, to net.Conn) error {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				return err
			}
			defer l.Close()
			go func() {
				if c, err := l.Accept(); err == nil {
					c.Write(content)
					c.Close()
				}
			}()
			from, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				return err
			}
			defer from.Close()
			_, err = io.Copy(to, from)
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, loop := tasktest.OneSlot(t)
			s := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
				to, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					t.Error(err)
					return
				}
				defer to.Close()
				if n := writesOf(t, func() error { return c.send(t, to) }); n > c.writes {
					t.Errorf("%d writes; want at most %d", n, c.writes)
				}
			})
			client, r := dial(t, s)
			send(t, client, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			if got, err := io.ReadAll(r); !bytes.Equal(got, content) || err != nil {
				t.Errorf("%d bytes, %v; want the %d that were sent", len(got), err, len(content))
			}
		})
	}
}
