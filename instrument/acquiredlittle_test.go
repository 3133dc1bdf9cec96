package instrument

import "testing"

// littleOf is like keeping, with deferred calls that release what may be lost without harm.
const littleOf = `package p

import (
	"context"
	"io"
	"net/http"
	"time"
)

func timer() {
	t := time.NewTimer(time.Second)
	work()
	defer t.Stop()
	work()
}

func ticker(c context.Context) {
	var t = time.NewTicker(time.Second)
	work()
	defer t.Stop()
	work()
}

func together(ctx context.Context) {
	t := time.NewTimer(time.Second)
	ctx, cancel := context.WithCancel(ctx)
	work()
	defer func() {
		t.Stop()
		cancel()
	}()
	use(ctx)
}

func named(ctx context.Context) {
	t := time.NewTimer(time.Second)
	ctx, cancel := context.WithCancel(ctx)
	quiet := func() { t.Stop() }
	stop := func() {
		quiet()
		cancel()
	}
	work()
	defer stop()
	use(ctx)
}

func namedWithAnother() {
	t := time.NewTimer(time.Second)
	c, _ := dial() // K
	stop := func() {
		t.Stop()
		c.Close()
	}
	work() // K
	defer stop()
	work()
}

func namedTwice(ctx context.Context, c *conn) {
	t := time.NewTimer(time.Second) // K
	stop := func() { t.Stop() }
	if ctx.Err() != nil { // K
		stop = c.Stop
	}
	work() // K
	defer stop()
	work()
}

func namedByAddress(ctx context.Context) {
	t := time.NewTimer(time.Second)
	stop := func() { t.Stop() }
	set(&stop) // K
	work() // K
	defer stop()
	work()
}

func namedInCircles(ctx context.Context) {
	var a, b func()
	t := time.NewTimer(time.Second)
	a = func() { t.Stop(); b() }
	b = func() { a() }
	work() // K
	defer a()
	work()
}

func withAnother() {
	t := time.NewTimer(time.Second)
	c, _ := dial() // K
	work() // K
	defer func() {
		t.Stop()
		c.Close()
	}()
	work()
}

func calling(f func()) {
	t := time.AfterFunc(time.Second, f)
	work() // K
	defer t.Stop()
	work()
}

func perhapsCalling(f func()) {
	t := time.NewTimer(time.Second)
	if f != nil {
		t = time.AfterFunc(time.Second, f) // K
	}
	work() // K
	defer t.Stop()
	work()
}

func given(t *time.Timer) {
	work() // K
	defer t.Stop()
	work()
}

func deadline() {
	ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, nil)
	work()
	defer cancel()
	use(ctx)
}

func derived(ctx context.Context) {
	ctx = context.WithValue(ctx, 1, 2)
	ctx, cancel := context.WithCancelCause(ctx)
	work()
	defer cancel(nil)
	use(ctx)
}

func ofRequest(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithCancel(r.Context())
	work()
	defer cancel()
	use(ctx)
}

func unbound() {
	ctx, cancel := context.WithCancel(context.Background())
	go use(ctx)
	work() // K
	defer cancel()
	work()
}

func unboundParameter(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	ctx, cancel := context.WithCancel(ctx)
	go use(ctx)
	work() // K
	defer cancel()
	work()
}

func other(cancel func()) {
	work() // K
	defer cancel()
	work()
}

var (
	use func(context.Context)
	set func(*func())
)

func body(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, 1000)
	read(r.Body)
	work()
	defer r.Body.Close()
	work()
}

func otherBody(w http.ResponseWriter, r *http.Request) {
	r.Body = unpack(r.Body)
	work() // K
	defer r.Body.Close()
	work()
}

func bodyOfClient(r *http.Request) {
	read(r.Body)
	work() // K
	defer r.Body.Close()
	work()
}

func bodyOfResponse(w http.ResponseWriter, r *http.Request) {
	resp, _ := http.Get("http://localhost")
	work() // K
	defer resp.Body.Close()
	work()
}

var (
	read   func(io.Reader)
	unpack func(io.Reader) io.ReadCloser
)
`

// TestAcquiredLittle checks that a throw happens before the defer statement of a release without
// which little is lost.
func TestAcquiredLittle(t *testing.T) { checkKept(t, littleOf) }
