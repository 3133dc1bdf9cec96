package cocoongrpc

import (
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// receipts predicts whether the next message of a stream is there already. A client that sends as
// fast as it can is ahead of its handler. If the task gave its slot up for each message, it would
// change places with another task for each, and that costs more than a message. So after some
// receives that took no time, the next ones keep the slot until the runtime finds them waiting.
// Then some are measured again. Like RecvMsg, receipts belongs to one goroutine at a time.
type receipts struct {
	prompt int // receives in a row that were prompt
	expect int // how many more receives keep the slot
}

const (
	promptly = int64(5 * time.Microsecond) // an answer of a client takes longer
	measured = 4                           // receives that must be prompt
	trusted  = 60                          // receives that keep the slot then
)

// expected reports whether the message of a receive that begins is probably there.
func (r *receipts) expected() bool {
	if r.expect == 0 {
		return false
	}
	r.expect--
	return true
}

// measure records a receive that ends now.
func (r *receipts) measure(begin int64) {
	if notify.Now()-begin > promptly {
		r.prompt = 0
		return
	}
	if r.prompt++; r.prompt == measured {
		r.prompt, r.expect = 0, trusted
	}
}
