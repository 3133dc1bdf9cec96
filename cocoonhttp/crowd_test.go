//go:build unix

package cocoonhttp

import (
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"

	"github.com/cocoon-go/cocoon/internal/tasktest"
)

const crowd = 10_000

// TestTenThousandConnections checks that ten thousand clients halfway through their bodies hold up
// no other request, and that all of them get their responses.
func TestTenThousandConnections(t *testing.T) {
	longtest.Skip(t, "it takes seconds")
	var limit syscall.Rlimit
	tasktest.Must(t, syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit))
	if limit.Cur < crowd+200 { // package os has raised it to the maximum
		t.Skipf("a process may have %d files open; want %d for as many connections", limit.Cur, crowd+200)
	}
	c := startChild(t) // a separate process, because it needs as many
	conns := make([]net.Conn, crowd)
	defer func() {
		for _, conn := range conns {
			if conn != nil {
				conn.Close()
			}
		}
	}()
	each := func(do func(i int) error) {
		t.Helper()
		var all sync.WaitGroup
		for worker := range 8 {
			all.Go(func() {
				for i := worker; i < crowd; i += 8 {
					if err := do(i); err != nil {
						t.Errorf("connection %d: %v", i, err)
						return
					}
				}
			})
		}
		if all.Wait(); t.Failed() {
			t.FailNow()
		}
	}
	each(func(i int) (err error) {
		if conns[i], err = c.dial(); err == nil {
			conns[i].SetDeadline(time.Now().Add(3 * tasktest.Patience))
			_, err = io.WriteString(conns[i], "POST /upload HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 9\r\n\r\nhalf")
		}
		return err
	})
	c.blocked(t, crowd) // this asks the server, which still responds
	each(func(i int) error {
		if _, err := io.WriteString(conns[i], "whole"); err != nil {
			return err
		}
		answer, err := io.ReadAll(conns[i])
		if err == nil && !strings.HasSuffix(string(answer), "\r\n\r\n9 <nil>") {
			err = fmt.Errorf("answered %q", answer)
		}
		return err
	})
	tasktest.Must(t, c.Process.Signal(syscall.SIGTERM))
	tasktest.Must(t, c.Wait())
}
