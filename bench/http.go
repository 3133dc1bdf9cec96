package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"time"
)

// httpConnections is how many connections ask at once, each for the next answer when it has the one before.
const httpConnections = 64

// httpSection measures what cocoonhttp costs: a server that says hello, without the middleware, with it, and with policies as
// servers have them, each a process of its own. This process asks. It writes a request that never changes, and reads as
// many bytes as the first answer had, which costs a fraction of what the server does for it; what it costs is among the
// results.
func httpSection(ctx context.Context, r *report) error {
	return httpWith(ctx, r, effort{rounds: 400, span: 50 * time.Millisecond})
}

func httpWith(ctx context.Context, r *report, e effort) (err error) {
	cores, release, err := r.apart()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	var sides []side
	for _, kind := range []string{plainServer, cocoonServer, policiesServer} {
		s, err := startServer(ctx, "http", kind, cores, r.stderr)
		if err != nil {
			return err
		}
		defer s.child.Stop()
		clients, err := connect(s.address)
		defer hangUp(clients)
		if err != nil {
			return err
		}
		sides = append(sides, func(ctx context.Context, e effort) (figures, error) {
			return s.drive(len(clients), e.span, func(i int, end time.Time) (int64, error) { return clients[i].ask(ctx, end) })
		})
	}
	got, err := medians(ctx, e, sides...)
	if err != nil {
		return err
	}
	for i, name := range []string{"hello", "hello, policies"} {
		add := func(metric string, j int, unit string, c claim) {
			r.add(result{Name: name, Metric: metric, Value: got[i+1][j], Unit: unit, Peer: "net/http alone", PeerValue: got[0][j]}, c)
		}
		add("throughput", perSecond, "1/s", claim{atLeast: 0.95})
		add("server_cpu", serverTime, "µs", claim{})
		add("server_switches", serverSwitches, "switches", claim{})
		add("client_cpu", clientTime, "µs", claim{})
	}
	return nil
}

// connect opens all connections.
func connect(address string) (clients []*httpClient, err error) {
	for range httpConnections {
		c, err := newHTTPClient(address)
		if err != nil {
			return clients, err
		}
		clients = append(clients, c)
	}
	return clients, nil
}

func hangUp(clients []*httpClient) {
	for _, c := range clients {
		c.conn.Close()
	}
}

const httpRequest = "GET /hello HTTP/1.1\r\nHost: bench\r\n\r\n"

// httpClient is a connection that asks again and again.
type httpClient struct {
	conn   net.Conn
	answer []byte // room for one
}

// newHTTPClient connects, and learns from a first answer how long each will be.
func newHTTPClient(address string) (*httpClient, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &httpClient{conn: conn}
	if _, err := io.WriteString(conn, httpRequest); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	n, r := 0, bufio.NewReader(conn)
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, errors.Join(err, conn.Close())
		}
		if n += len(line); line == "\r\n" {
			break
		}
	}
	const body = "hello, world"
	got := make([]byte, len(body))
	if _, err := io.ReadFull(r, got); err != nil || string(got) != body {
		return nil, errors.Join(fmt.Errorf("the server said %q; want %q", got, body), err, conn.Close())
	}
	c.answer = make([]byte, n+len(body))
	return c, nil
}

// ask returns how many answers it got until the end.
func (c *httpClient) ask(ctx context.Context, end time.Time) (n int64, err error) {
	request := []byte(httpRequest)
	for ; n%16 != 0 || ctx.Err() == nil && time.Now().Before(end); n++ {
		if _, err := c.conn.Write(request); err != nil {
			return n, err
		}
		if _, err := io.ReadFull(c.conn, c.answer); err != nil {
			return n, err
		}
	}
	return n, ctx.Err()
}
