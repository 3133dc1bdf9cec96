package cocoonhttp

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// blocking is how a task waits for its client: without its slot, and not for ever. A throw ends the task's context, but a read
// or a write that a client holds up does not look at that; so their deadlines are set into the past.
type blocking struct {
	under http.ResponseWriter
	ctx   context.Context // the task's

	// Guarded by mu: when the request has ended, the connection is the next one's.
	mu     sync.Mutex
	stop   func() bool // of watching ctx; nil as long as nothing has blocked
	reads  bool
	writes bool
	ended  bool
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// control returns what sets the connection's deadlines, and flushes.
func (b *blocking) control() *http.ResponseController { return http.NewResponseController(b.under) }

// read calls fn, which reads from the client, while the slot is given to others.
func (b *blocking) read(fn func() error) error {
	if !b.reads {
		b.watch(&b.reads)
	}
	return cocoon.Block(b.ctx, fn)
}

// write calls fn, which writes what cannot be taken back to the client, while the slot is given to others.
func (b *blocking) write(fn func() error) error {
	if !b.writes {
		b.watch(&b.writes)
	}
	return cocoon.Block(b.ctx, fn)
}

// watch sees to it that a throw ends reads, or writes.
func (b *blocking) watch(what *bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*what = true
	if b.stop == nil && !b.ended {
		b.stop = context.AfterFunc(b.ctx, b.interrupt)
	}
}

// interrupt is called when the task's context has ended.
func (b *blocking) interrupt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended || !thrown(b.ctx) {
		return
	}
	if b.reads {
		b.control().SetReadDeadline(longAgo)
	}
	if b.writes {
		b.control().SetWriteDeadline(longAgo)
	}
}

// thrown reports whether a context has ended because its task was thrown into. Where the client has gone, or time is up, the
// handler may still have something to say.
func thrown(ctx context.Context) bool {
	var p *cocoon.PreemptedError
	return errors.As(context.Cause(ctx), &p)
}

// end is called when the handler has returned.
func (b *blocking) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	if b.stop != nil {
		b.stop()
	}
}
