package cocoonhttp

import (
	"net/http"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// blocking is the state of a task's waits for its client. The task waits without its slot, and a
// throw ends the wait. A throw ends the task's context, but a read or a write that a client holds
// up does not watch the context; so a throw sets their deadlines into the past, and the connection
// is then of no more use. A handler that does not wait is left alone: it may return before it
// notices the throw. The handler learns of the throw by the error of its call.
type blocking struct {
	tell.Caller
	under http.ResponseWriter

	// mu guards the fields below: when the request has ended, the connection belongs to the next
	// request.
	mu      sync.Mutex
	stop    func() bool // stops watching ctx; nil until the first call that blocks
	unread  bool        // the handler has begun to read the body, and may read more
	writing bool
	thrown  bool // into the task
	cut     bool // a deadline is in the past
	ended   bool
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// control returns the controller that sets the connection's deadlines, and flushes.
func (b *blocking) control() *http.ResponseController { return http.NewResponseController(b.under) }

// read calls fn, which reads from the client, in a call that gives the slot back: Call or
// CallBriefly. fn reports whether there may be more to read.
func (b *blocking) read(call func(func() error) error, fn func() (more bool, err error)) error {
	return call(func() error {
		b.begin(&b.unread)
		more, err := fn()
		if !more {
			b.done(&b.unread)
		}
		return err
	})
}

// briefly is the largest write for which the task keeps its slot until the write is found waiting.
// A client that reads has room for it.
const briefly = 64 << 10

// write calls fn, which irrevocably writes that many bytes to the client. The task gives its slot
// back while it waits: at once for a large write, otherwise as soon as the runtime finds it
// waiting. While a throw unwinds the handler, nothing is written: deferred functions that complete
// the response at that time do not make it whole.
func (b *blocking) write(bytes int, fn func() error) error {
	if bytes > briefly {
		return b.Call(func() error { return b.writeNow(fn) })
	}
	return b.CallBriefly(func() error { return b.writeNow(fn) })
}

func (b *blocking) writeNow(fn func() error) error {
	if p := tell.Thrown(b.Ctx); hit(p) {
		return p
	}
	b.begin(&b.writing)
	defer b.done(&b.writing)
	return fn()
}

// begin makes a throw end the read or write that begins.
func (b *blocking) begin(what *bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*what = true
	if b.stop == nil && !b.ended {
		b.stop = inside.OnThrow(b.Ctx, b.interrupt)
	}
	if b.thrown {
		b.cutOff() // another goroutine of the handler begins a call after the throw
	}
}

func (b *blocking) done(what *bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*what = false
}

// interrupt is called when the task's context has ended.
func (b *blocking) interrupt() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if tell.Thrown(b.Ctx) != nil {
		b.thrown = true
		b.cutOff()
	}
}

// cutOff ends the calls that wait for the client. b.mu must be held.
func (b *blocking) cutOff() {
	if b.ended {
		return
	}
	if b.unread {
		b.cut = true
		b.control().SetReadDeadline(longAgo)
	}
	if b.writing {
		b.cut = true
		b.control().SetWriteDeadline(longAgo)
	}
}

// setReadDeadline sets the deadline of the handler's reads.
func (b *blocking) setReadDeadline(t time.Time) error {
	return b.setDeadline(&b.unread, b.control().SetReadDeadline, t)
}

// setWriteDeadline sets the deadline of the handler's writes.
func (b *blocking) setWriteDeadline(t time.Time) error {
	return b.setDeadline(&b.writing, b.control().SetWriteDeadline, t)
}

// setDeadline sets a deadline for the handler, unless a throw has cut the call off: another
// goroutine of the handler would take the cut back before the call has noticed it.
func (b *blocking) setDeadline(cut *bool, set func(time.Time) error, t time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.ended:
		return errEnded
	case b.thrown && *cut:
		return tell.Thrown(b.Ctx)
	}
	return set(t)
}

// hit reports whether a throw has come to the handler itself, and has not only ended its context.
func hit(p *cocoon.PreemptedError) bool { return p != nil && p.Where() != "" }

// end is called when the handler has returned, and reports whether a throw has cut a read or a
// write off. If the handler was thrown into and interrupt has not run yet, end cuts off the rest of
// a body, because net/http would wait for the body before it sends a response; and the write of a
// goroutine that the handler has left behind.
func (b *blocking) end(thrown bool) (cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if thrown {
		b.cutOff()
	}
	b.ended = true
	if b.stop != nil {
		b.stop()
	}
	return b.cut
}
