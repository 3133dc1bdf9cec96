package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
)

// A client of a waiting handler returns at the end of the context, or on an error.

// hello connects, and hangs up at the end of ctx.
func hello(ctx context.Context, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
	if err == nil {
		context.AfterFunc(ctx, func() { conn.Close() })
	}
	return conn, err
}

// askAgain repeats the same request. All responses have the same length, which the first client
// learns.
func askAgain(ctx context.Context, v *visited, answers *atomic.Int64) error {
	v.once.Do(func() { v.first, v.firstErr = newHTTPClient(v.server.address, waitingPath) })
	if v.firstErr != nil {
		return v.firstErr
	}
	conn, err := hello(ctx, v.server.address)
	if err != nil {
		return err
	}
	c := v.first.on(conn)
	for {
		if err := c.once(); err != nil {
			return err
		}
		answers.Add(1)
	}
}

// watchEvents reads a stream of events, and counts them.
func watchEvents(ctx context.Context, v *visited, answers *atomic.Int64) error {
	conn, err := hello(ctx, v.server.address)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(conn, httpGet(waitingPath+"?"+eventsQuery)); err != nil {
		return err
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	for lines := bufio.NewScanner(response.Body); lines.Scan(); {
		if bytes.HasPrefix(lines.Bytes(), []byte("data:")) {
			answers.Add(1)
		}
	}
	return fmt.Errorf("a stream of status %s ended", response.Status)
}

// eventsQuery is the query of a request for an event stream.
const eventsQuery = "events"

// useAll is one of the clients of a server of many kinds of handlers.
func useAll(ctx context.Context, v *visited, answers *atomic.Int64) error {
	switch v.clients.Add(1) % 6 {
	case 0:
		return askAgain(ctx, v, answers)
	case 1:
		return sendMessages(ctx, v, answers)
	}
	return watchEvents(ctx, v, answers)
}

// messagePause is the time between the echo of a message and the next message.
const messagePause = 40 * time.Millisecond

// sendMessages sends messages and waits for their echoes.
func sendMessages(ctx context.Context, v *visited, answers *atomic.Int64) error {
	conn, _, err := websocket.Dial(ctx, "ws://"+v.server.address+waitingPath, nil)
	if err != nil {
		return err
	}
	defer conn.CloseNow()
	message := []byte("hello, world")
	for {
		if err := conn.Write(ctx, websocket.MessageText, message); err != nil {
			return err
		}
		_, echo, err := conn.Read(ctx)
		if err != nil {
			return err
		}
		if !bytes.Equal(echo, message) {
			return fmt.Errorf("the echo is %q; want %q", echo, message)
		}
		answers.Add(1)
		pause(ctx, messagePause)
	}
}
