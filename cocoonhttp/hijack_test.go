package cocoonhttp

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/rpc"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// upgrade is a handler of a protocol that echoes each line; ended receives its final error.
func upgrade(t *testing.T, ended chan<- error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Upgrade") != "echo" {
			io.WriteString(w, "no upgrade")
			return
		}
		c, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		defer func() {
			if r := recover(); r != nil {
				ended <- r.(error)
				panic(r)
			}
			ended <- err
		}()
		if _, ok := c.(interface{ NetConn() net.Conn }).NetConn().(*net.TCPConn); !ok {
			t.Errorf("NetConn is a %T", c.(interface{ NetConn() net.Conn }).NetConn())
		}
		if _, err := io.WriteString(w, "x"); err != http.ErrHijacked {
			t.Errorf("a write after Hijack: %v", err)
		}
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
		for {
			var line string
			if line, err = buffered.ReadString('\n'); err != nil {
				return
			}
			buffered.WriteString(line)
			if err = buffered.Flush(); err != nil {
				return
			}
		}
	}
}

const upgradeRequest = "GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n"

func echo(t *testing.T, c net.Conn, r *bufio.Reader, line string) {
	t.Helper()
	if c != nil {
		send(t, c, line)
	}
	if got, err := r.ReadString('\n'); got != line {
		t.Errorf("got %q, %v; want %q", got, err, line)
	}
}

func switched(t *testing.T, r *bufio.Reader) {
	t.Helper()
	resp, err := http.ReadResponse(r, nil)
	tasktest.Must(t, err)
	if resp.StatusCode != 101 {
		t.Fatalf("status %d", resp.StatusCode)
	}
}

// TestHijack checks that a hijacked connection holds up no other request, and that its task ends
// when the client disconnects, or by a throw.
func TestHijack(t *testing.T) {
	rt, loop := tasktest.OneSlot(t)
	ended := make(chan error, 1)
	s := handle(t, loop, upgrade(t, ended))
	c, r := dial(t, s)
	send(t, c, upgradeRequest+"early\n") // before the response
	switched(t, r)
	echo(t, nil, r, "early\n")
	for range 3 {
		waits(t, rt)
		if _, body := get(t, s, "/"); body != "no upgrade" {
			t.Errorf("%q", body)
		}
		echo(t, c, r, "ping\n")
	}
	c.Close()
	if err := tasktest.Receive(t, "the handler", ended); err != io.EOF {
		t.Errorf("the handler ended with %v", err)
	}

	c, r = dial(t, s)
	send(t, c, upgradeRequest)
	switched(t, r)
	waits(t, rt)
	tasktest.Must(t, rt.Shutdown(past()))
	if err := tasktest.Receive(t, "the handler", ended); !errors.Is(err, cocoon.ErrShutdown) {
		t.Errorf("the handler ended with %v", err)
	}
	if _, err := r.ReadByte(); err != io.EOF {
		t.Errorf("the client's connection: %v", err)
	}
}

// TestHijackedClientNeverReads checks that a client that never reads from a hijacked connection
// holds up no other request, and that a throw ends the write. There is no other response, because
// the connection belongs to the handler. The write returns first; then the handler is thrown into.
func TestHijackedClientNeverReads(t *testing.T) {
	rt, loop := tasktest.OneSlot(t)
	ended := make(chan error, 1)
	var told atomic.Int32
	o := Options{Refuse: func(http.ResponseWriter, *http.Request, error) { t.Error("Refuse was called") }}
	s := serve(t, Middleware(loop, o)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/endless" {
			return
		}
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		defer func() { // recovers the throw and passes it on
			err, _ := recover().(error)
			ended <- err
			panic(err)
		}()
		for {
			// Web socket packages release their locks here, and not by defer.
			if _, err := io.WriteString(c, strings.Repeat("x", 1<<16)); err != nil {
				told.Add(1)
			}
		}
	})))
	c, _ := dial(t, s)
	send(t, c, "GET /endless HTTP/1.1\r\nHost: a\r\n\r\n")
	for range 3 {
		waits(t, rt)
		get(t, s, "/")
	}
	waits(t, rt)
	tasktest.Must(t, rt.Shutdown(past()))
	if err := tasktest.Receive(t, "the throw", ended); !errors.Is(err, cocoon.ErrShutdown) {
		t.Errorf("the handler ended with %v", err)
	}
	if told.Load() == 0 {
		t.Error("no write had an error before the throw")
	}
}

// TestHijackBuffered checks that bytes that arrive before the handler reads count as buffered, as
// they do without the middleware.
func TestHijackBuffered(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	counts := make(chan int, 1)
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		c, buffered, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		counts <- buffered.Reader.Buffered()
	})
	c, _ := dial(t, s)
	send(t, c, upgradeRequest+"hello")
	if n := tasktest.Receive(t, "the handler", counts); n != 5 {
		t.Errorf("%d bytes are buffered; want 5", n)
	}
}

// TestHijackAfterWrite checks that held bytes are sent before the hijack, and that goroutines of
// the handler use the connection like any other connection.
func TestHijackAfterWrite(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", "5")
		io.WriteString(w, "hello")
		w.(http.Flusher).Flush() // or net/http would lose it
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		go func() {
			io.WriteString(c, "more")
			c.Close()
		}()
	})
	c, r := dial(t, s)
	send(t, c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	resp, err := http.ReadResponse(r, nil)
	tasktest.Must(t, err)
	body, err := io.ReadAll(resp.Body)
	tasktest.Must(t, err)
	rest, err := io.ReadAll(r)
	if string(body) != "hello" || string(rest) != "more" || err != nil {
		t.Errorf("%q, then %q, %v", body, rest, err)
	}
}

// proxyTo serves a proxy to a backend. The proxy's requests are tasks, in a Block if block is true.
func proxyTo(t *testing.T, tasks Runner, backend *httptest.Server, block bool) *httptest.Server {
	target, err := url.Parse(backend.URL)
	tasktest.Must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	base := &http.Transport{}
	t.Cleanup(base.CloseIdleConnections)
	proxy.Transport = &Transport{Base: base}
	return handle(t, tasks, func(w http.ResponseWriter, r *http.Request) {
		if !block {
			proxy.ServeHTTP(w, r)
			return
		}
		cocoon.Block(r.Context(), func() error {
			proxy.ServeHTTP(w, r)
			return nil
		})
	})
}

// TestCloseWriteThroughProxy checks that closing one direction passes through a hijacked connection
// and through a response that switched protocols: a proxy closes each when the other side has
// closed.
func TestCloseWriteThroughProxy(t *testing.T) {
	back, loop := tasktest.OneSlot(t)
	front := tasktest.Start(t, cocoon.Config{Slots: 1})
	backend := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
		c, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello")
		tasktest.Must(t, c.(interface{ CloseWrite() error }).CloseWrite())
		rest, err := io.ReadAll(buffered)
		if string(rest) != "still there" || err != nil {
			t.Errorf("the backend got %q, %v", rest, err)
		}
	})
	c, r := dial(t, proxyTo(t, front, backend, false))
	send(t, c, upgradeRequest)
	switched(t, r)
	// The server has closed its side.
	if got, err := io.ReadAll(r); string(got) != "hello" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
	send(t, c, "still there")
	tasktest.Must(t, c.(*net.TCPConn).CloseWrite())
	tasktest.Eventually(t, "the backend to end", func() bool { return back.Stats().Tasks == 0 })
}

// TestUpgradeThroughProxy checks an upgrade through a proxy, where proxy and backend run as tasks.
// The proxy waits for its goroutines, which the runtime cannot see: so the runtime lends its slot,
// or, better, the handler is in a Block.
func TestUpgradeThroughProxy(t *testing.T) {
	for name, block := range map[string]bool{"lent": false, "in a Block": true} {
		t.Run(name, func(t *testing.T) {
			_, back := tasktest.OneSlot(t)
			front := tasktest.Start(t, cocoon.Config{Slots: 1})
			frontLoop := front.Loop()
			if block {
				front, frontLoop = tasktest.OneSlot(t)
			}
			ended := make(chan error, 1)
			s := proxyTo(t, frontLoop, handle(t, back, upgrade(t, ended)), block)
			c, r := dial(t, s)
			send(t, c, upgradeRequest)
			switched(t, r)
			for _, line := range []string{"one\n", "two\n"} {
				if _, body := get(t, s, "/"); body != "no upgrade" {
					t.Errorf("%q", body)
				}
				echo(t, c, r, line)
			}
			tasktest.Must(t, front.Shutdown(past()))
			if err := tasktest.Receive(t, "the handler", ended); err != io.EOF {
				t.Errorf("the handler ended with %v", err)
			}
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("the client's connection: %v", err)
			}
		})
	}
}

// TestThrowClosesHijacked checks that a throw ends the connection of a handler that does not close
// it, as the handler of net/rpc does not.
func TestThrowClosesHijacked(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	mux := http.NewServeMux()
	mux.HandleFunc("CONNECT /spins", func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		io.WriteString(c, "HTTP/1.0 200 Connected\r\n\r\n")
		throwInto(r.Context())
	})
	mux.HandleFunc("CONNECT /rpc", func(w http.ResponseWriter, r *http.Request) {
		cocoon.TaskOf(r.Context()).Cancel()
		rpc.NewServer().ServeHTTP(w, r)
	})
	s := serve(t, Middleware(rt, Options{})(mux))
	for _, path := range []string{"/spins", "/rpc"} {
		c, r := dial(t, s)
		send(t, c, "CONNECT "+path+" HTTP/1.0\n\n")
		if _, err := io.Copy(io.Discard, r); err != nil {
			t.Errorf("%s: %v; want the end of the connection", path, err)
		}
	}
}

// TestRecoveredKeepsHijacked checks that a handler that recovers a throw does not lose the
// connection that it has given to another goroutine. The goroutine uses the underlying connection,
// because the wrapper's calls return the throw.
func TestRecoveredKeepsHijacked(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	returned, wrote := make(chan struct{}), make(chan error, 1)
	h := Middleware(rt, Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		c = c.(interface{ NetConn() net.Conn }).NetConn()
		go func() {
			defer c.Close()
			<-returned
			err := os.ErrDeadlineExceeded // which the throw has set; it may come again a little later
			for errors.Is(err, os.ErrDeadlineExceeded) {
				c.SetDeadline(time.Time{})
				_, err = io.WriteString(c, "still here")
			}
			wrote <- err
		}()
		defer func() { recover() }()
		throwInto(r.Context())
	}))
	s := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(returned)
		h.ServeHTTP(w, r)
	}))
	c, r := dial(t, s)
	send(t, c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	got, err := io.ReadAll(r)
	if string(got) != "still here" || err != nil {
		t.Errorf("the client got %q, %v", got, err)
	}
	tasktest.Must(t, tasktest.Receive(t, "the write", wrote))
}
