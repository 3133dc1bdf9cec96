package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/http/httputil"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoonhttp"
)

// waitingConfig is the configuration of a server process.
type waitingConfig struct {
	Waiting  string
	Kind     string // one of waitingKinds
	Upstream string // a URL
}

// around calls f, which waits: inside a Block if the server announces its waits.
type around func(ctx context.Context, f func())

func silently(_ context.Context, f func()) { f() }

func inBlock(ctx context.Context, f func()) {
	cocoon.Block(ctx, func() error {
		f()
		return nil
	})
}

// serveWaiting is the body of the server process.
func serveWaiting(c waitingConfig) error {
	wait := silently
	if c.Kind == blockServer {
		wait = inBlock
	}
	handler, ok := waitingHandlers(c, wait)[c.Waiting]
	if !ok {
		return fmt.Errorf("no handler waits as %q", c.Waiting)
	}
	mux := http.NewServeMux()
	mux.Handle("GET "+waitingPath, handler)
	mux.HandleFunc("GET "+shortPath, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "short") })
	if c.Kind == plainServer {
		return serveHandler(mux)
	}
	// The runtime's log is written, but not shown.
	rt, err := cocoon.New(cocoon.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		return err
	}
	return serveHandler(cocoonhttp.Middleware(rt, cocoonhttp.Options{})(mux))
}

// waitingHandlers returns the handlers by the names of waitings.
func waitingHandlers(c waitingConfig, wait around) map[string]http.Handler {
	handlers := map[string]http.Handler{
		"streams":   streamEvents(wait, 200*time.Millisecond),
		"sleepers":  waitFor(wait, func() { time.Sleep(250 * time.Millisecond) }),
		"steps":     alternate(wait),
		"mutex":     waitForLock(wait),
		"hand-off":  handOff(wait),
		"pool":      queryDatabase(wait),
		"websocket": echoMessages(wait),
		"proxy":     passOn(wait, c.Upstream),
		"mixed":     serveMixed(wait),
	}
	addSystemHandlers(handlers, wait)
	return handlers
}

// waitFor is a handler that waits and responds.
func waitFor(wait around, f func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		wait(r.Context(), f)
		io.WriteString(w, "done")
	}
}

// alternate is a handler that works and waits by turns.
func alternate(wait around) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for range 20 {
			work(100 * time.Microsecond)
			wait(r.Context(), func() { time.Sleep(time.Millisecond) })
		}
		io.WriteString(w, "done")
	}
}

// streamEvents is an event stream, as many are.
func streamEvents(wait around, every time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for n := 0; r.Context().Err() == nil; n++ {
			wait(r.Context(), func() {
				select {
				case <-ticker.C:
				case <-r.Context().Done():
				}
			})
			fmt.Fprintf(w, "data: %d\n\n", n)
			w.(http.Flusher).Flush()
		}
	}
}

// waitForLock is a handler that does slow work under a lock.
func waitForLock(wait around) http.HandlerFunc {
	var mu sync.Mutex
	return waitFor(wait, func() {
		mu.Lock()
		defer mu.Unlock()
		time.Sleep(time.Millisecond)
	})
}

// handOff is a handler that hands its work to goroutines of the server.
func handOff(wait around) http.HandlerFunc {
	jobs := make(chan chan struct{})
	for range 4 {
		go func() {
			for done := range jobs {
				time.Sleep(time.Millisecond)
				close(done)
			}
		}()
	}
	return waitFor(wait, func() {
		done := make(chan struct{})
		jobs <- done
		<-done
	})
}

// echoMessages sends back each message of a web socket.
func echoMessages(wait around) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer conn.CloseNow()
		for err == nil {
			wait(r.Context(), func() {
				kind, message, e := conn.Read(r.Context())
				if err = e; err == nil {
					err = conn.Write(r.Context(), kind, message)
				}
			})
		}
	}
}

// serveMixed is a server of many kinds of handlers. Most of its goroutines hold no slot, and they
// keep the processor busy. One request in a hundred computes for 20 ms, and passes safe points.
func serveMixed(wait around) http.HandlerFunc {
	events, messages := streamEvents(wait, 5*time.Millisecond), echoMessages(wait)
	short := []http.HandlerFunc{handOff(wait), alternate(wait)}
	var requests atomic.Int64
	return func(w http.ResponseWriter, r *http.Request) {
		switch n := requests.Add(1); {
		case r.URL.RawQuery == eventsQuery:
			events(w, r)
		case r.Header.Get("Upgrade") != "":
			messages(w, r)
		case n%100 == 0:
			for range 200 {
				work(100 * time.Microsecond)
				cocoon.SafePoint(r.Context())
			}
			io.WriteString(w, "done")
		default:
			short[n%int64(len(short))](w, r)
		}
	}
}

// passOn is a reverse proxy.
func passOn(wait around, upstream string) http.HandlerFunc {
	to, err := url.Parse(upstream)
	if err != nil {
		panic(err) // the URL is the section's own
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ErrorLog = log.New(io.Discard, "", 0) // its clients hang up at the end of a round
	return func(w http.ResponseWriter, r *http.Request) {
		wait(r.Context(), func() { proxy.ServeHTTP(w, r) })
	}
}

// upstreamHandler is the handler to which a proxy passes requests; it is not in the server's
// process.
var upstreamHandler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
	time.Sleep(5 * time.Millisecond)
	io.WriteString(w, "done")
})
