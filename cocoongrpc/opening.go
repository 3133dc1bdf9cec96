package cocoongrpc

import (
	"sync"
	"sync/atomic"
	"time"
)

// opening is the beginning of a stream's response. gRPC marks the header as sent, and then sends
// it. If a status and the first message are written at the same time, each may leave the header to
// the other, and a client that waits for the header reads nothing (TestStatusDuringSend). So a
// status waits for the first send. That one never waits for the client.
type opening struct {
	mu   sync.Mutex  // held by a first send, and while a status is written
	done atomic.Bool // the header has been sent
}

// longOpening is how long a status waits at most for a first send, which may be in code of an
// interceptor that waits for the end of the stream.
const longOpening = 100 * time.Millisecond

// first calls send, which sends the header, or a message with the header before it.
func (o *opening) first(send func() error) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	err := send()
	if err == nil {
		o.done.Store(true)
	}
	return err
}

// settle waits for a first send in progress. No other begins until end is called. header sends the
// header if the wait takes too long. A stream that has sent its header needs none of this.
func (o *opening) settle(header func() error) (end func()) {
	for begun := time.Now(); !o.done.Load(); time.Sleep(longOpening / 1000) {
		if o.mu.TryLock() {
			return o.mu.Unlock
		}
		if time.Since(begun) > longOpening {
			header()
			break
		}
	}
	return func() {}
}
