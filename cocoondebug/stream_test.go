package cocoondebug

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// A stream goes on, and a throw comes with its reason.
func TestStreamShowsAThrow(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := started(t, cocoon.Config{Slots: 1})
	_, page := served(t, rt, Options{})
	ctx, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
	defer cancel()
	events, numbered := watch(ctx, t, page+"stream"), watch(ctx, t, page+"stream?format=json")
	await(t, events, `id="decisions"`)
	_ = rt.Run(context.Background(), "unwanted", nothing)
	begin := time.Now()
	await(t, events, `class="refusal"`)
	if late := time.Since(begin); late > 5*time.Second {
		t.Errorf("the throw came after %v", late)
	}
	var s Snapshot
	tasktest.Must(t, json.Unmarshal([]byte(strings.TrimSpace(await(t, numbered, `"reason":"not now"`))), &s))
	if s.Viewers.Watching != 2 {
		t.Errorf("%+v; want two that watch", s.Viewers)
	}
}

// Streams end with the runtime, with a last snapshot that says so, and the page goes on to say so.
func TestPageWhileTheRuntimeShutsDown(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := started(t, cocoon.Config{Slots: 2})
	_, page := served(t, rt, Options{})
	ctx, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
	defer cancel()
	events := watch(ctx, t, page+"stream")
	await(t, events, `id="decisions"`)
	stop := occupy(rt, context.Background(), "scan")
	down := make(chan error)
	go func() { down <- rt.Shutdown(ctx) }()
	tasktest.Eventually(t, "the runtime refuses tasks", func() bool { return rt.Run(ctx, "late", nothing) != nil })
	tasktest.Eventually(t, "a snapshot with the task that runs on", func() bool {
		s := snapshot(t, page)
		return !s.Ended && s.Live > 0
	})
	stop()
	tasktest.Must(t, tasktest.Receive(t, "the shutdown", down))
	if e := await(t, events, "The runtime has shut down."); !strings.HasPrefix(e, "end ") {
		t.Errorf("the last event is %.20q", e)
	}
	if _, more := <-events; more {
		t.Error("the stream goes on")
	}
	if s := snapshot(t, page); !s.Ended {
		t.Error("the page does not say that the runtime has shut down")
	}
	if e := await(t, watch(ctx, t, page+"stream"), "The runtime has shut down."); !strings.HasPrefix(e, "end ") {
		t.Errorf("the first event of a later stream is %.20q", e)
	}
}

// A server that shuts down does not wait for viewers.
func TestServerShutsDown(t *testing.T) {
	rt := started(t, cocoon.Config{})
	server := httptest.NewServer(Handler(rt, Options{}))
	defer server.Close()
	ctx, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
	defer cancel()
	events := watch(ctx, t, server.URL+"/stream")
	await(t, events, `id="decisions"`)
	go func() {
		for range events { // the client reads on
		}
	}()
	tasktest.Must(t, server.Config.Shutdown(ctx))
}

// Each handler shows its own runtime.
func TestTwoRuntimes(t *testing.T) {
	for _, name := range []string{"first", "second"} {
		rt := started(t, cocoon.Config{Slots: 1})
		_, page := served(t, rt, Options{})
		defer occupy(rt, context.Background(), name)()
		if tasks := snapshot(t, page).Tasks; len(tasks) != 1 || tasks[0].Name != name {
			t.Errorf("%s: the tasks are %+v", name, tasks)
		}
	}
}

// Without viewers the handler has no goroutine and keeps nothing of the runtime's.
func TestWithoutViewers(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := started(t, cocoon.Config{})
	h, page := served(t, rt, Options{})
	c := &h.collector
	state := func() (frame *frame, reader *cocoon.DecisionReader) {
		c.mu.Lock()
		defer c.mu.Unlock()
		return c.frame, c.reader
	}
	if f, r := state(); f != nil || r != nil {
		t.Error("it has read before the first look")
	}
	c.linger = 0
	_ = rt.Run(context.Background(), "unwanted", nothing)
	first := snapshot(t, page)
	tasktest.Eventually(t, "the collector stops", func() bool { f, _ := state(); return f == nil })
	_ = rt.Run(context.Background(), "unwanted", nothing)
	second := snapshot(t, page) // with the decisions from before
	if n := len(second.Decisions); n != len(first.Decisions)+1 || second.Number <= first.Number {
		t.Errorf("after %d decisions there are %d", len(first.Decisions), n)
	}
}

// Viewers that do not read are dropped, and delay none of the others. There is room for so many.
func TestHundredViewers(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := started(t, cocoon.Config{Slots: 2})
	h := Handler(rt, Options{}).(*handler)
	h.patience = 200 * time.Millisecond
	server := httptest.NewUnstartedServer(h)
	server.Config.ConnState = func(c net.Conn, s http.ConnState) {
		if s == http.StateNew {
			_ = c.(*net.TCPConn).SetWriteBuffer(1 << 10) // so that it is soon full
		}
	}
	server.Start()
	defer server.Close()
	for i := range maxTasks { // so that a snapshot is large
		defer occupyWaiting(rt, fmt.Sprint("waiter ", i))()
	}
	const each = 50
	for range each {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		tasktest.Must(t, err)
		defer c.Close()
		_ = c.(*net.TCPConn).SetReadBuffer(1 << 10)
		fmt.Fprintf(c, "GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*tasktest.Patience)
	defer cancel()
	var all sync.WaitGroup
	defer func() { cancel(); all.Wait() }()
	got := make(chan int)
	for i := range each {
		events := watch(ctx, t, server.URL+"/stream?format=json")
		all.Go(func() {
			for range events {
				select {
				case got <- i:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	seen := map[int]int{}
	for done := 0; done < each; {
		i := tasktest.Receive(t, "an event", got)
		if seen[i]++; seen[i] == 3 {
			done++
		}
	}
	go func() {
		for range got {
		}
	}()
	tasktest.Eventually(t, "the others are dropped", func() bool {
		h.collector.mu.Lock()
		defer h.collector.mu.Unlock()
		return h.collector.viewers.Dropped == each && h.collector.viewers.Watching == each
	})
	cancel()
	all.Wait()
	close(got)
}

// occupyWaiting starts a task that waits until stop.
func occupyWaiting(rt *cocoon.Runtime, name string) (stop func()) {
	over := make(chan struct{})
	h := rt.Go(context.Background(), name, func(ctx context.Context) error {
		return cocoon.Block(ctx, func() error { <-over; return nil })
	})
	return func() {
		close(over)
		<-h.Done()
	}
}

// There are no more streams than the handler has room for.
func TestTooManyViewers(t *testing.T) {
	rt := started(t, cocoon.Config{})
	h, page := served(t, rt, Options{})
	h.collector.viewers.Watching = maxViewers
	if status, _ := get(t, page+"stream"); status != http.StatusServiceUnavailable || h.collector.viewers.Refused != 1 {
		t.Errorf("status %d, %+v", status, h.collector.viewers)
	}
	h.collector.viewers.Watching = 0
	r, err := http.Head(page + "stream") // it ends at once
	tasktest.Must(t, err)
	r.Body.Close()
	if r.StatusCode != http.StatusOK {
		t.Errorf("HEAD: status %d", r.StatusCode)
	}
}

// A storm of decisions about ever new names, tenants and labels neither stops the page nor fills
// the memory.
func TestStormOfNames(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := started(t, cocoon.Config{Slots: 2})
	_, err := rt.RegisterPolicy(cocoon.Policy{Name: "no", On: cocoon.OnEnqueue, Expr: `arriving.priority == 1 ? throw("no") : continue()`})
	tasktest.Must(t, err)
	h, page := served(t, rt, Options{})
	snapshot(t, page)
	total := longtest.Count(1_000_000, 8_000)
	begin := time.Now()
	var all sync.WaitGroup
	for part := range 2 {
		all.Go(func() {
			for i := part; i < total; i += 2 {
				name := fmt.Sprintf("name %d %s", i, strings.Repeat("x", i%300))
				ctx := cocoon.WithLabel(context.Background(), "tenant", name)
				_ = rt.Run(cocoon.WithPriority(ctx, int32(i%10/9)), name, nothing)
			}
		})
	}
	all.Wait()
	t.Logf("%d tasks in %v", total, time.Since(begin))
	refused := int64(total / 10)
	tasktest.Eventually(t, "a snapshot after the storm", func() bool {
		s := snapshot(t, page)
		if s.DecisionsLost == 0 { // a busy machine ran the storm so slowly that all were read
			refused += burst(rt, h)
			return false
		}
		return s.Loops[0].Refused == refused && s.MoreNames > 0
	})
	status, text := get(t, page+"?format=json")
	if status != http.StatusOK || len(text) > 300<<10 {
		t.Errorf("status %d, a snapshot of %d bytes", status, len(text))
	}
	if _, body := get(t, page); len(body) > 500<<10 || !strings.Contains(body, "more</p>") {
		t.Errorf("a page of %d bytes", len(body))
	}
	tasktest.Must(t, rt.Shutdown(context.Background()))
	tasktest.Eventually(t, "the collector has ended", func() bool {
		h.collector.mu.Lock()
		defer h.collector.mu.Unlock()
		return h.collector.ended
	})
	for _, tick := range h.collector.ticks {
		if n := len(tick.names); n > maxCounted {
			t.Errorf("%d names in a tick", n)
		}
	}
}

// burst refuses more tasks than the stream keeps, while the collector cannot publish and therefore
// does not read. It returns how many. A storm loses no decision where tasks run slowly, as under the
// race detector.
func burst(rt *cocoon.Runtime, h *handler) int64 {
	const n = 2000
	h.collector.mu.Lock()
	defer h.collector.mu.Unlock()
	time.Sleep((frameEvery + 2) * sampleEvery) // it waits to publish
	for range n {
		_ = rt.Run(cocoon.WithPriority(context.Background(), 1), "burst", nothing)
	}
	return n
}

// While more is decided than the stream can keep, the page stays up to date and says what it lacks.
func TestStormOfDecisions(t *testing.T) {
	t.Parallel() // most of its time is a wait
	rt := started(t, cocoon.Config{Slots: 2})
	const policies = 8
	for i := range policies {
		_, err := rt.RegisterPolicy(cocoon.Policy{
			Name: fmt.Sprintf("no-%d", i), On: cocoon.OnEnqueue,
			Expr: fmt.Sprintf(`arriving.priority == %d ? throw("no") : continue()`, i),
		})
		tasktest.Must(t, err)
	}
	h, page := served(t, rt, Options{})
	ctx, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
	defer cancel()
	events := watch(ctx, t, page+"stream?format=json")
	var all sync.WaitGroup
	var ended atomic.Bool
	for range longtest.Count(2, 1) {
		all.Go(func() {
			for i := 0; !ended.Load(); i++ {
				_ = rt.Run(cocoon.WithPriority(context.Background(), int32(i%policies)), "storm", nothing)
				if longtest.Off() && i%100 == 99 {
					time.Sleep(time.Millisecond)
				}
			}
		})
	}
	await(t, events, "storm")
	count := longtest.Count(3, 1)
	begin, first := time.Now(), rt.Loop().Stats().Refused
	for range count {
		tasktest.Receive(t, "an event", events)
	}
	took, refused := time.Since(begin), rt.Loop().Stats().Refused-first
	ended.Store(true)
	all.Wait()
	t.Logf("%d snapshots in %v, with %.0f refusals a second", count, took, float64(refused)/took.Seconds())
	if took > 10*time.Second {
		t.Errorf("%d snapshots took %v", count, took)
	}
	tasktest.Eventually(t, "the newest decision", func() bool {
		s := snapshot(t, page)
		if s.DecisionsLost == 0 {
			burst(rt, h)
			return false
		}
		return s.Names[0].Refusals > 0
	})
}
