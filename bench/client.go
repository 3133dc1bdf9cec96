package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// httpClient is a connection that repeats the same request, and reads as many bytes as the first
// response had, which is cheaper than parsing. Only one goroutine may use it.
type httpClient struct {
	conn    net.Conn
	request []byte
	answer  []byte // a buffer for one response
	unsure  bool   // an unread response may still come
}

// connect opens n connections.
func connect(address, path string, n int) (clients []*httpClient, err error) {
	for range n {
		c, err := newHTTPClient(address, path)
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

// newHTTPClient connects, and learns the length of the responses from the first one.
func newHTTPClient(address, path string) (*httpClient, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	c := &httpClient{conn: conn, request: []byte(httpGet(path))}
	if err := c.learn(); err != nil {
		return nil, errors.Join(fmt.Errorf("GET %s: %w", path, err), conn.Close())
	}
	return c, nil
}

func httpGet(path string) string { return "GET " + path + " HTTP/1.1\r\nHost: bench\r\n\r\n" }

func (c *httpClient) learn() error {
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	counted := &countedReader{Reader: c.conn}
	response, err := http.ReadResponse(bufio.NewReader(counted), nil)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(response.Body)
	if err == nil && (response.StatusCode != http.StatusOK || len(body) == 0 || response.ContentLength < 0) {
		err = fmt.Errorf("status %s, length %d, body %q; want 200 and a body of known length", response.Status, response.ContentLength, body)
	}
	c.answer = make([]byte, counted.n)
	return err
}

// countedReader counts the bytes read.
type countedReader struct {
	io.Reader
	n int
}

func (c *countedReader) Read(p []byte) (n int, err error) {
	n, err = c.Reader.Read(p)
	c.n += n
	return n, err
}

// once makes one request and reads its response.
func (c *httpClient) once() error {
	c.unsure = true
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	if _, err := io.ReadFull(c.conn, c.answer); err != nil {
		return err
	}
	if got := string(c.answer[:len(good)]); got != good {
		return fmt.Errorf("the answer begins %q; want %q", got, good)
	}
	c.unsure = false
	return nil
}

// good is the beginning of a successful response.
const good = "HTTP/1.1 200"

// patience is how long an outstanding response may take at the end.
const patience = 10 * time.Second

// again replaces the connection by a new one to the same server.
func (c *httpClient) again() error {
	c.conn.Close()
	conn, err := net.Dial("tcp", c.conn.RemoteAddr().String())
	if err == nil {
		*c = *c.on(conn)
	}
	return err
}

// on returns a client that makes the same request on a different connection.
func (c *httpClient) on(conn net.Conn) *httpClient {
	return &httpClient{conn: conn, request: c.request, answer: make([]byte, len(c.answer))}
}
