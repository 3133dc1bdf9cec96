package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"time"
)

// httpConnections is how many connections ask at once, each for the next answer when it has the one before.
const httpConnections = 64

// httpSection measures what cocoonhttp costs: a server that says hello, with the middleware and without, each a process of
// its own. This process asks. It writes a request that never changes, and reads as many bytes as the first answer had,
// which costs a fraction of what the server does for it; what it costs is among the results.
func httpSection(ctx context.Context, r *report) error {
	return httpWith(ctx, r, effort{rounds: 400, span: 50 * time.Millisecond})
}

// The figures of a side.
const (
	perSecond = iota
	serverTime
	clientTime
)

func httpWith(ctx context.Context, r *report, e effort) error {
	var sides []side
	for _, kind := range []string{plainServer, cocoonServer} {
		s, err := startHTTP(ctx, kind, r.stderr)
		if err != nil {
			return err
		}
		defer s.stop()
		sides = append(sides, s.drive)
	}
	got, err := medians(ctx, e, sides...)
	if err != nil {
		return err
	}
	plain, with := got[0], got[1]
	add := func(metric string, i int, unit string, c claim) {
		r.add(result{Name: "hello", Metric: metric, Value: with[i], Unit: unit, Peer: "net/http alone", PeerValue: plain[i]}, c)
	}
	add("throughput", perSecond, "1/s", claim{atLeast: 0.95})
	add("server_cpu", serverTime, "µs", claim{})
	add("client_cpu", clientTime, "µs", claim{})
	return nil
}

// httpProcess is a server process.
type httpProcess struct {
	cmd     *exec.Cmd
	in      io.WriteCloser
	out     *json.Decoder
	clients []*httpClient
}

func startHTTP(ctx context.Context, kind string, stderr io.Writer) (*httpProcess, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), httpServer+"="+kind)
	cmd.Stderr = stderr
	in, inErr := cmd.StdinPipe()
	out, outErr := cmd.StdoutPipe()
	if err := errors.Join(inErr, outErr); err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p := &httpProcess{cmd: cmd, in: in, out: json.NewDecoder(out)}
	if err := p.connect(); err != nil {
		return nil, errors.Join(fmt.Errorf("the %s server: %w", kind, err), p.stop())
	}
	return p, nil
}

// connect opens all connections.
func (p *httpProcess) connect() error {
	var address string
	if err := p.out.Decode(&address); err != nil {
		return fmt.Errorf("it gave no address: %w", err)
	}
	for range httpConnections {
		c, err := newHTTPClient(address)
		if err != nil {
			return err
		}
		p.clients = append(p.clients, c)
	}
	return nil
}

// stop ends the process by the end of its input.
func (p *httpProcess) stop() error {
	for _, c := range p.clients {
		c.conn.Close()
	}
	return errors.Join(p.in.Close(), p.cmd.Wait())
}

// used returns the processor time of the server so far, in seconds.
func (p *httpProcess) used() (seconds float64, err error) {
	if _, err := p.in.Write([]byte("\n")); err != nil {
		return 0, err
	}
	return seconds, p.out.Decode(&seconds)
}

// drive asks for a span on all connections, and returns the side's figures.
func (p *httpProcess) drive(ctx context.Context, e effort) (figures, error) {
	before, err := p.used()
	if err != nil {
		return nil, err
	}
	own, begin := processorTime(), time.Now()
	var all sync.WaitGroup
	var answers atomic.Int64
	errs := make(chan error, len(p.clients))
	for _, c := range p.clients {
		all.Go(func() {
			n, err := c.ask(ctx, begin.Add(e.span))
			answers.Add(n)
			errs <- err
		})
	}
	all.Wait()
	took, mine := time.Since(begin), processorTime()-own
	close(errs)
	for e := range errs {
		err = errors.Join(err, e)
	}
	after, usedErr := p.used()
	if err := errors.Join(err, usedErr); err != nil {
		return nil, err
	}
	n := float64(answers.Load())
	return figures{n / took.Seconds(), (after - before) / n * 1e6, mine / n * 1e6}, nil
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
