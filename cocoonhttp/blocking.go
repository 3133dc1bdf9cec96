package cocoonhttp

import (
	"net/http"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// blocking is how a task waits for its client: without its slot, and not for ever. A throw ends the
// task's context, but a read or a write that a client holds up does not look at that; so their
// deadlines are set into the past, and the connection is of no more use. What does not wait is left
// alone: its handler may come to its end before it hears of the throw. It hears by the error of its
// call.
type blocking struct {
	tell.Caller
	under http.ResponseWriter

	// Guarded by mu: when the request has ended, the connection is the next one's.
	mu      sync.Mutex
	stop    func() bool // of watching ctx; nil as long as nothing has blocked
	unread  bool        // the handler has begun to read the body, and may come back for more
	writing bool
	thrown  bool // into the task
	cut     bool // a deadline is in the past
	ended   bool
}

// longAgo is a deadline that has passed.
var longAgo = time.Unix(1, 0)

// control returns what sets the connection's deadlines, and flushes.
func (b *blocking) control() *http.ResponseController { return http.NewResponseController(b.under) }

// read calls fn, which reads from the client, while the slot is given to others. fn reports whether
// there may be more to read.
func (b *blocking) read(fn func() (more bool, err error)) error {
	return b.Call(func() error {
		b.begin(&b.unread)
		more, err := fn()
		if !more {
			b.done(&b.unread)
		}
		return err
	})
}

// briefly is how many bytes are written without giving the slot up beforehand: a client takes that
// much at once, as a rule.
const briefly = 64 << 10

// write calls fn, which writes what cannot be taken back to the client, while the slot is given to
// others. While a throw unwinds the handler, nothing is written: what code does then to bring its
// answer to an end makes no whole one of it.
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

// begin sees to it that a throw ends what begins.
func (b *blocking) begin(what *bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	*what = true
	if b.stop == nil && !b.ended {
		b.stop = inside.OnThrow(b.Ctx, b.interrupt)
	}
	if b.thrown {
		b.cutOff() // it is another goroutine of the handler's that begins
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

// cutOff ends what waits for the client. Called under mu.
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

// hit reports whether a throw has come to the handler itself, and not only ended its context.
func hit(p *cocoon.PreemptedError) bool { return p != nil && p.Where() != "" }

// end is called when the handler has returned, and reports whether a throw has cut something off.
// If the handler was thrown into it cuts off the rest of a body, should interrupt not have come to
// that yet: net/http would wait for it before it sends an answer.
func (b *blocking) end(thrown bool) (cut bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unread && thrown {
		b.cutOff()
	}
	b.ended = true
	if b.stop != nil {
		b.stop()
	}
	return b.cut
}
