package cocoonhttp

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cocoon-go/cocoon/cocoon"
)

// TestMain fails the whole run when it leaves a goroutine. The tests' program is also the server that TestSIGTERM ends.
func TestMain(m *testing.M) {
	if os.Getenv(termServer) != "" {
		if err := serveUntilTerm(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// patience is how long a test waits for what must come: long enough for a machine that others keep busy.
const patience = 20 * time.Second

// start returns a runtime that is shut down at the end of the test, when all its slots must be free.
func start(t testing.TB, cfg cocoon.Config) *cocoon.Runtime {
	t.Helper()
	cfg.Logger = slog.New(slog.DiscardHandler)
	rt, err := cocoon.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		if err := rt.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if s := rt.Loop().Stats(); s.Busy != 0 || s.Queued != 0 || s.Lent != 0 {
			t.Errorf("the loop is not free: %+v", s)
		}
	})
	return rt
}

// serve serves a handler on a loopback socket until the end of the test.
func serve(t testing.TB, h http.Handler, change ...func(*httptest.Server)) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	for _, f := range change {
		f(s)
	}
	if s.EnableHTTP2 {
		s.StartTLS()
	} else {
		s.Start()
	}
	t.Cleanup(s.Close)
	return s
}

func http2(s *httptest.Server) { s.EnableHTTP2 = true }

// handle is serve for a handler that runs as tasks.
func handle(t testing.TB, rt Runner, h http.HandlerFunc, change ...func(*httptest.Server)) *httptest.Server {
	t.Helper()
	return serve(t, Middleware(rt, Options{})(h), change...)
}

// get makes a request, and returns its answer with the whole body.
func get(t testing.TB, s *httptest.Server, path string) (*http.Response, string) {
	t.Helper()
	resp, err := s.Client().Get(s.URL + path)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// dial opens a connection, with a reader of its answers.
func dial(t testing.TB, s *httptest.Server) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(patience))
	return c, bufio.NewReader(c)
}

func send(t testing.TB, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// throwInto has the calling handler's task thrown into.
func throwInto(ctx context.Context) {
	cocoon.TaskOf(ctx).Cancel()
	cocoon.SafePoint(ctx)
}

// eventually waits until ok holds.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !ok(); time.Sleep(100 * time.Microsecond) {
		if time.Now().After(end) {
			buf := make([]byte, 1<<18)
			t.Fatalf("%s: not within %v\n%s", what, patience, buf[:runtime.Stack(buf, true)])
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// receive waits for a channel.
func receive[T any](t testing.TB, what string, c <-chan T) (v T) {
	t.Helper()
	select {
	case v = <-c:
	case <-time.After(patience):
		buf := make([]byte, 1<<18)
		t.Fatalf("%s: not within %v\n%s", what, patience, buf[:runtime.Stack(buf, true)])
	}
	return v
}
