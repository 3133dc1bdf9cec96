package cocoongrpc

import "github.com/cocoon-go/cocoon/internal/goroutine"

// receipts predicts whether the next message of a stream is there already. A client that sends as
// fast as it can is ahead of its handler. If the task gave its slot up for each message, it would
// change places with another task for each, and that costs more than a message. So after some
// receives during which the goroutine did not stop running, the next ones keep the slot, until one
// waits. Where the goroutine does not tell, each receive gives the slot up. Like RecvMsg, receipts
// belongs to one goroutine at a time.
type receipts struct {
	prompt int // receives in a row that did not wait
}

// enough is how many receives in a row must be prompt.
const enough = 2

// expected reports whether the message of a receive that begins is probably there.
func (r *receipts) expected() bool { return r.prompt >= enough }

// record records a receive that ends now. before is goroutine.Leaves at its beginning, if known.
func (r *receipts) record(before uint8, known bool) {
	if n, _ := goroutine.Leaves(); known && n == before {
		r.prompt++
	} else {
		r.prompt = 0
	}
}
