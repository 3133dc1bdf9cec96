package cocoondebug

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestMain fails the whole run if it leaks a goroutine.
func TestMain(m *testing.M) {
	flag.Parse()
	flag.Set("test.parallel", "8") // parallel tests wait most of the time
	code := m.Run()
	http.DefaultClient.CloseIdleConnections()
	if err := goleak.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

const document = `
version: 1
tasks:
  default: preemptible
tenants: {label: tenant, shares: {gold: 3, free: 1}}
states:
  seen: {first: 0, keys: 8}
  most: 3
policies:
  - name: shed
    on: enqueue
    expr: 'arriving.name == "unwanted" ? throw("not now") : add("seen", arriving.labels.client, 1)'
  - name: planned
    on: enqueue
    mode: observe
    expr: 'queue.length > state.most ? throw("too many") : continue()'
`

// started returns a runtime with the document.
func started(t testing.TB, cfg cocoon.Config) *cocoon.Runtime {
	t.Helper()
	cfg.QuietThrows = true
	rt := tasktest.Start(t, cfg)
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader(document)))
	return rt
}

// served returns the handler of a runtime, and the address of its page.
func served(t testing.TB, rt *cocoon.Runtime, o Options) (h *handler, page string) {
	t.Helper()
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	h = Handler(rt, o).(*handler)
	mux := http.NewServeMux()
	mux.Handle("/debug/cocoon/", h)
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return h, server.URL + "/debug/cocoon/"
}

// get returns the status and the body of a response.
func get(t testing.TB, url string) (int, string) {
	t.Helper()
	r, err := http.Get(url)
	tasktest.Must(t, err)
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	tasktest.Must(t, err)
	return r.StatusCode, string(body)
}

// snapshot returns the snapshot of the moment.
func snapshot(t testing.TB, page string) (s Snapshot) {
	t.Helper()
	status, body := get(t, page+"?format=json")
	if status != http.StatusOK {
		t.Fatalf("status %d: %s", status, body)
	}
	tasktest.Must(t, json.Unmarshal([]byte(body), &s))
	return s
}

// watch sends the events of a stream until it ends: the name of an event, a space and its data.
func watch(ctx context.Context, t testing.TB, url string) <-chan string {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	tasktest.Must(t, err)
	response, err := http.DefaultClient.Do(r)
	tasktest.Must(t, err)
	if got := response.Header.Get("Content-Type"); response.StatusCode != http.StatusOK || got != "text/event-stream" {
		t.Fatalf("status %d, %q", response.StatusCode, got)
	}
	events := make(chan string)
	go func() {
		defer close(events)
		defer response.Body.Close()
		lines := bufio.NewReader(response.Body)
		for name, data := "", ""; ; {
			line, err := lines.ReadString('\n')
			if err != nil {
				return
			}
			field, value, _ := strings.Cut(strings.TrimRight(line, "\n"), ": ")
			switch field {
			case "event":
				name = value
			case "data":
				data += value + "\n"
			case "":
				select {
				case events <- name + " " + data:
				case <-ctx.Done():
					return
				}
				name, data = "", ""
			}
		}
	}()
	return events
}

// await waits for an event that contains the text.
func await(t testing.TB, events <-chan string, text string) string {
	t.Helper()
	for late := time.After(tasktest.Patience); ; {
		select {
		case e, ok := <-events:
			if !ok {
				t.Fatalf("the stream has ended without %q", text)
			}
			if strings.Contains(e, text) {
				return e
			}
		case <-late:
			t.Fatalf("no event with %q", text)
		}
	}
}

// occupy keeps a slot busy with a task of that name until stop.
func occupy(rt *cocoon.Runtime, ctx context.Context, name string) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	started := make(chan struct{})
	h := rt.Go(ctx, name, func(ctx context.Context) error {
		close(started)
		for ctx.Err() == nil {
			cocoon.SafePoint(ctx)
		}
		return nil
	})
	select {
	case <-started:
	case <-h.Done():
	}
	return func() {
		cancel()
		<-h.Done()
	}
}
