package cocoonhttp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestShutdownWaitsForAnswers checks that tasks thrown into at the end have time for a response,
// and that Shutdown returns after it.
func TestShutdownWaitsForAnswers(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	running := make(chan struct{})
	answered := false
	o := Options{Refuse: func(w http.ResponseWriter, r *http.Request, err error) {
		time.Sleep(50 * time.Millisecond) // a response that takes its time
		answered = true
		unavailable(w, r, err)
	}}
	s := serve(t, Middleware(rt, o)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(running)
		for {
			cocoon.SafePoint(r.Context())
		}
	})))
	c, r := dial(t, s)
	send(t, c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	tasktest.Receive(t, "the handler", running)
	tasktest.Must(t, Shutdown(past(), s.Config, rt))
	if !answered {
		t.Error("Shutdown has returned before the response")
	}
	if resp, err := http.ReadResponse(r, nil); err != nil || resp.StatusCode != 503 {
		t.Errorf("%v, %v", resp, err)
	}
}

// TestShutdownDeaf checks that a handler that ignores the throw loses its connection, and that the
// error names it.
func TestShutdownDeaf(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt, err := cocoon.New(cocoon.Config{Slots: 1})
	tasktest.Must(t, err)
	running, gate, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	s := handle(t, rt, func(http.ResponseWriter, *http.Request) {
		defer close(ended)
		close(running)
		<-gate
	})
	c, _ := dial(t, s)
	send(t, c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	tasktest.Receive(t, "the handler", running)
	var left *cocoon.ShutdownError
	if err := Shutdown(past(), s.Config, rt); !errors.As(err, &left) || len(left.Tasks) != 1 || left.Tasks[0] != unmatched {
		t.Errorf("got %v; want the task that is left", err)
	}
	if _, err := c.Read(make([]byte, 1)); err != io.EOF {
		t.Errorf("the connection: %v", err)
	}
	close(gate)
	tasktest.Receive(t, "the end of the handler", ended)
	tasktest.Must(t, rt.Shutdown(context.Background()))
}

// TestShutdownDrains checks that Shutdown drains first: no client can connect any more, while a
// request in flight goes on as before, including its own tasks, until its response is complete.
func TestShutdownDrains(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2})
	running, gate := make(chan struct{}), make(chan struct{})
	s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
		close(running)
		<-gate
		if err := rt.Run(context.Background(), "part", func(context.Context) error { return nil }); err != nil {
			t.Errorf("a part of the request: %v", err)
		}
		io.WriteString(w, "whole")
	})
	c, r := dial(t, s)
	send(t, c, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	tasktest.Receive(t, "the handler", running)
	ctx, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
	defer cancel()
	down := make(chan error, 1)
	go func() { down <- Shutdown(ctx, s.Config, rt) }()
	tasktest.Eventually(t, "the door to close", func() bool {
		late, err := net.Dial("tcp", s.Listener.Addr().String())
		if err == nil {
			late.Close()
		}
		return err != nil
	})
	select {
	case err := <-down:
		t.Errorf("it did not wait: %v", err)
	default:
	}
	close(gate)
	resp, err := http.ReadResponse(r, nil)
	tasktest.Must(t, err)
	if body, err := io.ReadAll(resp.Body); string(body) != "whole" || err != nil {
		t.Errorf("%d %q, %v", resp.StatusCode, body, err)
	}
	tasktest.Must(t, tasktest.Receive(t, "Shutdown", down))
	if err := rt.Run(context.Background(), "late", func(context.Context) error { return nil }); !errors.Is(err, cocoon.ErrShutdown) {
		t.Errorf("a task after it: %v", err)
	}
}

// TestShutdownSeveral checks that several servers drain concurrently, and that their runtime ends
// after them.
func TestShutdownSeveral(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	var servers []*http.Server
	answers, hold := make(chan string, 3), make(chan struct{})
	var begun sync.WaitGroup
	for range 3 {
		begun.Add(1)
		s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
			begun.Done()
			cocoon.Block(r.Context(), func() error { <-hold; return nil })
			io.WriteString(w, "whole")
		})
		servers = append(servers, s.Config)
		go func() { answers <- got(s, "GET") }()
	}
	begun.Wait()
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
		defer cancel()
		ended <- Shutdown(ctx, servers[0], rt, servers[1:]...)
	}()
	for _, s := range servers {
		tasktest.Eventually(t, "a server to take no more connections", func() bool {
			return s.ListenAndServe() == http.ErrServerClosed
		})
	}
	close(hold)
	for range servers {
		same(t, tasktest.Receive(t, "a response", answers), "200 whole")
	}
	tasktest.Must(t, tasktest.Receive(t, "the end", ended))
}

// TestShutdownSeveralThrows checks that the requests left when the time is over are thrown into and
// get a response, on each server.
func TestShutdownSeveralThrows(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 3})
	var servers []*http.Server
	answers := make(chan string, 3)
	var begun sync.WaitGroup
	for range 3 {
		begun.Add(1)
		s := handle(t, rt, func(w http.ResponseWriter, r *http.Request) {
			begun.Done()
			for {
				cocoon.SafePoint(r.Context())
			}
		})
		servers = append(servers, s.Config)
		go func() { answers <- got(s, "GET") }()
	}
	begun.Wait()
	ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	tasktest.Must(t, Shutdown(ctx, servers[0], rt, servers[1:]...))
	for range servers {
		same(t, tasktest.Receive(t, "a response", answers), "refused")
	}
}

// TestShutdownEndsHijacked checks that a connection that a handler has taken over does not hold up
// Shutdown.
func TestShutdownEndsHijacked(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	ended := make(chan error, 1)
	s := handle(t, rt, upgrade(t, ended))
	c, r := dial(t, s)
	send(t, c, upgradeRequest)
	switched(t, r)
	echo(t, c, r, "ping\n")
	ctx, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
	defer cancel()
	begin := time.Now()
	tasktest.Must(t, Shutdown(ctx, s.Config, rt))
	if err := tasktest.Receive(t, "the handler", ended); !errors.Is(err, cocoon.ErrCancelled) || time.Since(begin) > tasktest.Patience/2 {
		t.Errorf("the handler ended with %v after %v", err, time.Since(begin))
	}
	// its server's goroutine does that, after the task has ended
	tasktest.Eventually(t, "the task to be forgotten", func() bool {
		taken.mu.Lock()
		defer taken.mu.Unlock()
		return len(taken.of[s.Config]) == 0
	})
}
