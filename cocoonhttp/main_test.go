package cocoonhttp

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestMain fails the whole run if it leaks a goroutine. The tests' program is also the server that
// TestSIGTERM ends.
func TestMain(m *testing.M) {
	if os.Getenv(termServer) != "" {
		if err := serveUntilTerm(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	flag.Set("test.parallel", "8") // parallel tests wait most of the time
	code := longtest.SmallHeap(m)
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// busy returns how many slots of a runtime are taken.
func busy(rt *cocoon.Runtime) (n int) {
	for _, s := range rt.Stats().Loops {
		n += s.Busy
	}
	return n
}

// serve serves a handler on a loopback socket until the end of the test.
func serve(t testing.TB, h http.Handler, change ...func(*httptest.Server)) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.Config.ErrorLog = quiet
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

// quiet discards its messages.
var quiet = log.New(io.Discard, "", 0)

func http2(s *httptest.Server) { s.EnableHTTP2 = true }

// handle is serve for a handler that runs as tasks.
func handle(t testing.TB, rt Runner, h http.HandlerFunc, change ...func(*httptest.Server)) *httptest.Server {
	t.Helper()
	return serve(t, Middleware(rt, Options{})(h), change...)
}

// get makes a request, and returns the response with the whole body.
func get(t testing.TB, s *httptest.Server, path string) (*http.Response, string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), tasktest.Patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "GET", s.URL+path, nil)
	tasktest.Must(t, err)
	resp, err := s.Client().Do(r)
	tasktest.Must(t, err)
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(body)
}

// dial opens a connection, with a reader of its responses.
func dial(t testing.TB, s *httptest.Server) (net.Conn, *bufio.Reader) {
	t.Helper()
	c, err := net.Dial("tcp", s.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(tasktest.Patience))
	return c, bufio.NewReader(c)
}

func send(t testing.TB, c net.Conn, text string) {
	t.Helper()
	if _, err := io.WriteString(c, text); err != nil {
		t.Fatal(err)
	}
}

// throwInto makes the runtime throw into the calling handler's task.
func throwInto(ctx context.Context) {
	cocoon.TaskOf(ctx).Cancel()
	cocoon.SafePoint(ctx)
}
