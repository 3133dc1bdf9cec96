package cocoonhttp

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cocoon-go/cocoon/cocoon"
)

// upgrade is a handler of a protocol that answers each line with the same; ended gets what it ends
// with.
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
	must(t, err)
	if resp.StatusCode != 101 {
		t.Fatalf("status %d", resp.StatusCode)
	}
}

// A connection that was hijacked holds nobody up, and its task ends when the client goes, or by a
// throw.
func TestHijack(t *testing.T) {
	rt, loop := oneSlot(t)
	ended := make(chan error, 1)
	s := handle(t, loop, upgrade(t, ended))
	c, r := dial(t, s)
	send(t, c, upgradeRequest+"early\n") // before the answer
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
	if err := receive(t, "the handler", ended); err != io.EOF {
		t.Errorf("the handler ended with %v", err)
	}

	c, r = dial(t, s)
	send(t, c, upgradeRequest)
	switched(t, r)
	waits(t, rt)
	must(t, rt.Shutdown(past()))
	if err := receive(t, "the handler", ended); !errors.Is(err, cocoon.ErrShutdown) {
		t.Errorf("the handler ended with %v", err)
	}
	if _, err := r.ReadByte(); err != io.EOF {
		t.Errorf("the client's connection: %v", err)
	}
}

// A client that never reads from a connection that was hijacked holds nobody up, and a throw ends
// the write: without another answer, because the connection is the handler's affair. The write
// returns first, and then the handler is thrown into.
func TestHijackedClientNeverReads(t *testing.T) {
	rt, loop := oneSlot(t)
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
		defer func() { // the throw, on its way
			err, _ := recover().(error)
			ended <- err
			panic(err)
		}()
		for {
			// Packages for web sockets release their locks here, and not by defer.
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
	must(t, rt.Shutdown(past()))
	if err := receive(t, "the throw", ended); !errors.Is(err, cocoon.ErrShutdown) {
		t.Errorf("the handler ended with %v", err)
	}
	if told.Load() == 0 {
		t.Error("no write had an error before the throw")
	}
}

// What is there before the handler reads counts as buffered, as without the middleware.
func TestHijackBuffered(t *testing.T) {
	rt := start(t, cocoon.Config{})
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
	if n := receive(t, "the handler", counts); n != 5 {
		t.Errorf("%d bytes are buffered; want 5", n)
	}
}

// What was written before is sent first, and goroutines of the handler use the connection like any
// other.
func TestHijackAfterWrite(t *testing.T) {
	rt := start(t, cocoon.Config{})
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
	must(t, err)
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	rest, err := io.ReadAll(r)
	if string(body) != "hello" || string(rest) != "more" || err != nil {
		t.Errorf("%q, then %q, %v", body, rest, err)
	}
}

// proxyTo serves a proxy to a backend, whose requests are tasks, in a Block or not.
func proxyTo(t *testing.T, tasks Runner, backend *httptest.Server, block bool) *httptest.Server {
	target, err := url.Parse(backend.URL)
	must(t, err)
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

// To close one direction passes through, of the connection that was hijacked and of an answer that
// switched protocols, each of which a proxy does when the other side has.
func TestCloseWriteThroughProxy(t *testing.T) {
	back, loop := oneSlot(t)
	front := start(t, cocoon.Config{Slots: 1})
	backend := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
		c, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nhello")
		must(t, c.(interface{ CloseWrite() error }).CloseWrite())
		rest, err := io.ReadAll(buffered)
		if string(rest) != "still there" || err != nil {
			t.Errorf("the backend got %q, %v", rest, err)
		}
	})
	c, r := dial(t, proxyTo(t, front, backend, false))
	send(t, c, upgradeRequest)
	switched(t, r)
	if got, err := io.ReadAll(r); string(got) != "hello" || err != nil { // the server has ended its side
		t.Errorf("got %q, %v", got, err)
	}
	send(t, c, "still there")
	must(t, c.(*net.TCPConn).CloseWrite())
	eventually(t, "the backend to end", func() bool { return back.Stats().Tasks == 0 })
}

// An upgrade through a proxy, both of which are tasks. The proxy waits for its goroutines, which
// nobody can see: so its slot is lent, or, better, its handler is in a Block.
func TestUpgradeThroughProxy(t *testing.T) {
	for name, block := range map[string]bool{"lent": false, "in a Block": true} {
		t.Run(name, func(t *testing.T) {
			_, back := oneSlot(t)
			front := start(t, cocoon.Config{Slots: 1})
			frontLoop := front.Loop()
			if block {
				front, frontLoop = oneSlot(t)
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
			must(t, front.Shutdown(past()))
			if err := receive(t, "the handler", ended); err != io.EOF {
				t.Errorf("the handler ended with %v", err)
			}
			if _, err := r.ReadByte(); err != io.EOF {
				t.Errorf("the client's connection: %v", err)
			}
		})
	}
}
