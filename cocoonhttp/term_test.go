package cocoonhttp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// termServer is the environment variable that makes the tests' program a server until it gets
// SIGTERM.
const termServer = "COCOONHTTP_TERM_SERVER"

// serveUntilTerm prints its address, and serves until SIGTERM.
func serveUntilTerm() error {
	rt, err := cocoon.New(cocoon.Config{Slots: 2, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /quick", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "quick") })
	mux.HandleFunc("GET /forever", func(w http.ResponseWriter, r *http.Request) {
		for {
			cocoon.SafePoint(r.Context())
		}
	})
	mux.HandleFunc("GET /endless", func(w http.ResponseWriter, r *http.Request) {
		for {
			io.WriteString(w, strings.Repeat("x", 1<<16))
		}
	})
	mux.HandleFunc("POST /upload", func(w http.ResponseWriter, r *http.Request) {
		n, err := io.Copy(io.Discard, r.Body)
		fmt.Fprint(w, n, err)
	})
	mux.HandleFunc("GET /blocked", func(w http.ResponseWriter, r *http.Request) {
		st := rt.Stats()
		fmt.Fprint(w, st.Tasks-int64(st.Loops[0].Busy)-int64(st.Loops[0].Queued))
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(listener.Addr())
	go func() { // the parent may die without a signal, as a test that times out does
		io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	srv := &http.Server{Handler: Middleware(rt, Options{})(mux)}
	done := make(chan error, 1)
	go func() {
		term, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		<-term.Done()
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		done <- Shutdown(ctx, srv, rt)
	}()
	if err := srv.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-done
}

// child is a server in a separate process.
type child struct {
	*exec.Cmd
	url string
}

func startChild(t *testing.T) *child {
	t.Helper()
	self, err := os.Executable()
	tasktest.Must(t, err)
	c := &child{Cmd: exec.Command(self)}
	c.Env = append(os.Environ(), termServer+"=1")
	c.Stderr = os.Stderr
	_, err = c.StdinPipe() // closed when this process ends, see serveUntilTerm
	tasktest.Must(t, err)
	out, err := c.StdoutPipe()
	tasktest.Must(t, err)
	tasktest.Must(t, c.Start())
	t.Cleanup(func() { c.Process.Kill() })
	address, err := bufio.NewReader(out).ReadString('\n')
	tasktest.Must(t, err)
	c.url = "http://" + strings.TrimSpace(address)
	return c
}

func (c *child) dial() (net.Conn, error) {
	return net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
}

// blocked waits until n tasks of the child wait for their clients.
func (c *child) blocked(t *testing.T, n int) {
	t.Helper()
	tasktest.Eventually(t, "tasks to block", func() bool {
		resp, err := http.Get(c.url + "/blocked")
		tasktest.Must(t, err)
		defer resp.Body.Close()
		got := 0
		fmt.Fscan(resp.Body, &got)
		return got >= n
	})
}

// TestSIGTERM checks that on SIGTERM under load a server responds to as many requests as possible,
// throws into the rest, and exits with 0.
func TestSIGTERM(t *testing.T) {
	t.Parallel() // its time is that of the child
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGTERM")
	}
	c := startChild(t)
	var load sync.WaitGroup
	var whole, refused atomic.Int64
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: tasktest.Patience}
	for range 8 {
		load.Go(func() {
			for {
				resp, err := client.Get(c.url + "/quick")
				if err != nil {
					return // the server has ended
				}
				body, err := io.ReadAll(resp.Body)
				resp.Body.Close()
				switch {
				case err != nil:
					t.Errorf("half a response: %q, %v", body, err)
				case resp.StatusCode == 200 && string(body) == "quick":
					whole.Add(1)
				case resp.StatusCode == 503:
					refused.Add(1)
				default:
					t.Errorf("%d %q", resp.StatusCode, body)
				}
			}
		})
	}
	statuses := make(chan int, 2)
	ask := func(request string) {
		conn, err := c.dial()
		tasktest.Must(t, err)
		t.Cleanup(func() { conn.Close() })
		send(t, conn, request)
		if strings.Contains(request, "endless") {
			return // this client never reads
		}
		go func() {
			resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
			if err != nil {
				t.Error(err)
				statuses <- 0
				return
			}
			statuses <- resp.StatusCode
		}()
	}
	ask("GET /forever HTTP/1.1\r\nHost: a\r\n\r\n")
	ask("GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
	ask("POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nhalf")
	c.blocked(t, 2)
	tasktest.Eventually(t, "load", func() bool { return whole.Load() > int64(longtest.Count(100, 30)) })
	tasktest.Must(t, c.Process.Signal(syscall.SIGTERM))
	for range 2 {
		if status := tasktest.Receive(t, "a response", statuses); status != 503 {
			t.Errorf("a request that cannot end got status %d", status)
		}
	}
	load.Wait()
	if err := c.Wait(); err != nil {
		t.Errorf("the server: %v", err)
	}
	t.Logf("%d whole responses, %d refusals", whole.Load(), refused.Load())
}
