package instrument

import "testing"

// tellingOf is like keeping, with deferred calls that only tell something of a value.
const tellingOf = `package p

import (
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
)

type histogram interface {
	WithLabelValues(...string) histogram
	Observe(float64)
	Dec()
}

type logger interface {
	Info(string, ...any)
	Infof(string, ...any)
	Logout(string)
}

var (
	latency histogram
	inner   logger
	release func(string) error
)

func metric(name string) {
	work()
	defer func() { latency.WithLabelValues(name).Observe(1) }()
	work()
}

func gauge(name string) {
	work() // K
	defer func() { latency.WithLabelValues(name).Dec() }()
	work()
}

func logged(id string, l logger) {
	work()
	defer l.Infof("%s has come", id)
	work()
}

func madeBefore(s *server) {
	c, _ := dial()
	work()
	defer func() { slog.Info("it ends", slog.Any("next", c.next), slog.Any("server", s)) }()
	work()
}

func loggedToo() {
	c, _ := dial()
	work() // K
	defer func() {
		inner.Info("it ends", "conn", c)
		c.Close()
	}()
	work()
}

func releasedInMessage() {
	c, _ := dial()
	work() // K
	defer func() { inner.Info("it ends", "err", c.Close()) }()
	work()
}

func releasedByFunction(id string) {
	work() // K
	defer func() { fmt.Println(release(id)) }()
	work()
}

func wrapped(path string) (err error) {
	work()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", path, err)
		}
	}()
	work()
	return nil
}

func audited(id string, n int) {
	work()
	defer audit(id, n)
	work()
}

func audit(id string, n int) {
	text := fmt.Sprint(id)
	inner.Info(text, "n", n)
}

func counted(id string) {
	work() // K
	defer auditAndCount(id)
	work()
}

func auditAndCount(id string) {
	inner.Info(id)
	delete(free, len(id))
}

func accounted(user string, n int) {
	work()
	defer account(user, n)
	work()
}

func account(user string, n int) {
	mu.Lock()
	defer mu.Unlock()
	totals[user] += n
	calls.Add(1)
}

func uncounted(user string, n int) {
	work() // K
	defer countDown(user, n)
	work()
}

func countDown(user string, n int) {
	mu.Lock()
	defer mu.Unlock()
	totals[user] += n
}

func recorded(user string) {
	work()
	defer recorder.Record(user, 1)
	work()
}

func spent(user string) {
	work() // K
	defer record(user)
	work()
}

func record(user string) { totals[user]-- }

var (
	mu       sync.Mutex
	totals   map[string]int
	calls    atomic.Int64
	recorder interface{ Record(string, int) }
)

func notALog(id string) {
	work() // K
	defer inner.Logout(id)
	work()
}

// reserved does not lose what it reserves before the message.
func reserved(id string) {
	work()
	reserve(id)
	work() // K
	inner.Info("it is reserved", "id", id) // K
	work() // K
	defer release(id)
	work()
}

var reserve func(string)

func handler(w http.ResponseWriter, r *http.Request) {
	work()
	defer flush(w, r)
	work()
}

func flush(w http.ResponseWriter, r *http.Request) { w.(http.Flusher).Flush() }
`

// TestAcquiredTold checks that a log or a metric releases nothing.
func TestAcquiredTold(t *testing.T) { checkKept(t, tellingOf) }
