package cocoonhttp

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestTransport checks that other tasks run while a task waits for a response or its body.
func TestTransport(t *testing.T) {
	_, loop := tasktest.OneSlot(t)
	var front string
	answered := make(chan struct{}) // the task has the response, except for the rest of its body
	other := func() {
		resp, err := http.Get(front + "/other") // it needs the slot of the task that waits for it
		if err != nil {
			t.Error(err)
			return
		}
		resp.Body.Close()
	}
	backend := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		other()
		w.(http.Flusher).Flush()
		<-answered
		other()
		w.Write(body)
	}))
	client := &http.Client{Transport: &Transport{}}
	t.Cleanup(client.CloseIdleConnections)
	s := handle(t, loop, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/other" {
			return
		}
		out, err := http.NewRequestWithContext(r.Context(), "POST", backend.URL, strings.NewReader("hello"))
		tasktest.Must(t, err)
		resp, err := client.Do(out)
		close(answered)
		if err != nil {
			t.Error(err)
			return
		}
		defer resp.Body.Close()
		io.Copy(w, resp.Body)
	})
	front = s.URL
	if _, body := get(t, s, "/"); body != "hello" {
		t.Errorf("%q", body)
	}
	resp, err := client.Get(front + "/other") // without a task
	tasktest.Must(t, err)
	resp.Body.Close()
}

// watched is a body that records whether it was closed.
type watched struct {
	io.Reader
	closed atomic.Bool
}

func (w *watched) Close() error { w.closed.Store(true); return nil }

type tripper func(*http.Request) (*http.Response, error)

func (f tripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTransportThrow checks that a throw due before the call is the client's error, and that a
// later throw leaves the response to the task: no code of the client is unwound, and nothing stays
// open.
func TestTransportThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	sent, answer := &watched{Reader: strings.NewReader("x")}, &watched{Reader: strings.NewReader("y")}
	calls := 0
	client := &http.Client{Transport: &Transport{Base: tripper(func(r *http.Request) (*http.Response, error) {
		calls++
		cocoon.TaskOf(r.Context()).Cancel()
		return &http.Response{StatusCode: 200, Body: answer, Request: r}, nil
	})}}
	do := func(ctx context.Context, body io.Reader) (*http.Response, error) {
		r, err := http.NewRequestWithContext(ctx, "POST", "http://a/", body)
		tasktest.Must(t, err)
		return client.Do(r)
	}
	err := rt.Run(t.Context(), "late", func(ctx context.Context) error {
		resp, err := do(ctx, nil)
		tasktest.Must(t, err)
		defer resp.Body.Close()
		_, err = io.ReadAll(resp.Body)
		return err
	})
	if !errors.Is(err, cocoon.ErrCancelled) || calls != 1 || !answer.closed.Load() {
		t.Errorf("late: %v, %d calls, closed %t", err, calls, answer.closed.Load())
	}
	err = rt.Run(t.Context(), "early", func(ctx context.Context) error {
		cocoon.TaskOf(ctx).Cancel()
		_, err := do(ctx, sent)
		return err
	})
	var p *cocoon.PreemptedError
	if !errors.As(err, &p) || calls != 1 || !sent.closed.Load() {
		t.Errorf("early: %v, %d calls, closed %t", err, calls, sent.closed.Load())
	}
}

// TestTransportIgnoredErrors checks that a throw unwinds a loop that ignores the errors of its
// requests, after some of them have returned the throw, and that all bodies are closed.
func TestTransportIgnoredErrors(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	client := &http.Client{Transport: &Transport{Base: tripper(func(r *http.Request) (*http.Response, error) {
		return nil, errors.New("it was called")
	})}}
	var bodies []*watched
	err := rt.Run(t.Context(), "job", func(ctx context.Context) error {
		cocoon.TaskOf(ctx).Cancel()
		for range 100 {
			body := &watched{Reader: strings.NewReader("x")}
			bodies = append(bodies, body)
			r, err := http.NewRequestWithContext(ctx, "POST", "http://a/", body)
			tasktest.Must(t, err)
			client.Do(r)
		}
		return nil
	})
	if !errors.Is(err, cocoon.ErrCancelled) || len(bodies) != inside.Patience+1 {
		t.Errorf("%v after %d requests; want the throw in request %d", err, len(bodies), inside.Patience+1)
	}
	for i, b := range bodies {
		if !b.closed.Load() {
			t.Errorf("body %d is open", i)
		}
	}
}

// TestTransportCleanUp checks that clean-up gets the whole response to a request with a context
// that does not end with the task, while a throw is due: the code returns because a call has
// failed, so the throw does not unwind it.
func TestTransportCleanUp(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	_, err := rt.RegisterPolicy(cocoon.Policy{Name: "signal", On: cocoon.OnNotify("signal"), Expr: `task.name == "job" ? throw("signalled") : continue()`})
	tasktest.Must(t, err)
	client := &http.Client{Transport: &Transport{Base: tripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: io.NopCloser(strings.NewReader("undone")), Request: r}, nil
	})}}
	ask := func(ctx context.Context) (string, error) {
		r, err := http.NewRequestWithContext(ctx, "POST", "http://a/", nil)
		tasktest.Must(t, err)
		resp, err := client.Do(r)
		if err != nil {
			return "", err
		}
		defer resp.Body.Close()
		body, err := io.ReadAll(resp.Body)
		return string(body), err
	}
	err = rt.Run(t.Context(), "job", func(ctx context.Context) error {
		defer func() {
			if body, err := ask(context.WithoutCancel(ctx)); body != "undone" || err != nil {
				t.Errorf("%q, %v", body, err)
			}
		}()
		rt.Notify("signal", 0)
		_, err := ask(ctx)
		return err
	})
	var p *cocoon.PreemptedError
	if !errors.As(err, &p) || p.Policy != "signal" {
		t.Errorf("the task ended with %v; want the throw", err)
	}
}

// TestTransportWholeResponse checks that a throw due during a response does not cut the response
// short, which would cost its connection and what the server says, such as the lease that the task
// has got. The response may take as long as the context.
func TestTransportWholeResponse(t *testing.T) {
	for name, on := range map[string]cocoon.Trigger{
		"quick":       cocoon.OnNotify("signal"),
		"at the read": cocoon.OnBlock,
		"endless":     cocoon.OnNotify("signal"),
	} {
		t.Run(name, func(t *testing.T) {
			rt := tasktest.Start(t, cocoon.Config{})
			endless := name == "endless"
			client := &http.Client{Transport: &Transport{Base: tripper(func(r *http.Request) (*http.Response, error) {
				var body io.Reader = strings.NewReader("whole")
				if endless {
					body = reader(func([]byte) (int, error) { <-r.Context().Done(); return 0, r.Context().Err() })
				}
				return &http.Response{StatusCode: 200, Body: io.NopCloser(body), Request: r}, nil
			})}}
			var p *cocoon.PreemptedError
			err := rt.Run(t.Context(), "job", func(ctx context.Context) error {
				r, err := http.NewRequestWithContext(ctx, "GET", "http://a/", nil)
				tasktest.Must(t, err)
				resp, err := client.Do(r)
				tasktest.Must(t, err)
				defer resp.Body.Close()
				_, err = rt.RegisterPolicy(cocoon.Policy{Name: "signal", On: on, Expr: `task.name == "job" ? throw("signalled") : continue()`})
				tasktest.Must(t, err)
				rt.Notify("signal", 0)
				body, err := io.ReadAll(resp.Body)
				if !endless && (string(body) != "whole" || err != nil) || endless && !errors.As(err, &p) {
					t.Errorf("%q, %v", body, err)
				}
				cocoon.SafePoint(ctx)
				return err
			})
			if !errors.As(err, &p) || p.Policy != "signal" {
				t.Errorf("the task ended with %v; want the throw", err)
			}
		})
	}
}

type reader func([]byte) (int, error)

func (f reader) Read(p []byte) (int, error) { return f(p) }

// counted is a body that counts the reads during which the task has given its slot back.
type counted struct {
	io.Reader
	loop         *cocoon.Loop
	reads, given int
}

func (c *counted) Read(p []byte) (int, error) {
	if c.reads++; c.loop.Stats().Busy == 0 {
		c.given++
	}
	return c.Reader.Read(p)
}

func (c *counted) Close() error { return nil }

// TestTransportQuickReads checks that most of a body that has arrived is read without giving the
// slot back.
func TestTransportQuickReads(t *testing.T) {
	_, loop := tasktest.OneSlot(t)
	body := &counted{Reader: iotest.OneByteReader(strings.NewReader(strings.Repeat("x", 2000))), loop: loop}
	client := &http.Client{Transport: &Transport{Base: tripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: 200, Body: body, Request: r}, nil
	})}}
	tasktest.Must(t, loop.Run(t.Context(), "job", func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, "GET", "http://a/", nil)
		tasktest.Must(t, err)
		resp, err := client.Do(r)
		tasktest.Must(t, err)
		defer resp.Body.Close()
		_, err = io.Copy(io.Discard, resp.Body)
		return err
	}))
	if body.given == 0 || body.given > body.reads/2 {
		t.Errorf("the slot was given back for %d of %d reads", body.given, body.reads)
	}
}

// TestTransportUpgraded checks that a task that has switched protocols gives its slot back while
// the peer does not read.
func TestTransportUpgraded(t *testing.T) {
	rt, loop := tasktest.OneSlot(t)
	ours, theirs := net.Pipe()
	defer theirs.Close()
	client := &http.Client{Transport: &Transport{Base: tripper(func(r *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: ours, Request: r}, nil
	})}}
	writer := loop.Go(t.Context(), "writer", func(ctx context.Context) error {
		r, err := http.NewRequestWithContext(ctx, "GET", "http://a/", nil)
		tasktest.Must(t, err)
		resp, err := client.Do(r)
		tasktest.Must(t, err)
		defer resp.Body.Close()
		_, err = io.WriteString(resp.Body.(io.Writer), "hello")
		return err
	})
	waits(t, rt)
	tasktest.Must(t, loop.Run(t.Context(), "other", func(context.Context) error { return nil }))
	if got, err := io.ReadAll(theirs); string(got) != "hello" || err != nil {
		t.Errorf("%q, %v", got, err)
	}
	tasktest.Must(t, writer.Wait(t.Context()))
}
