package cocoongrpc

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// sink is a stream that accepts all messages.
type sink struct {
	grpc.ServerStream
	ctx context.Context
}

func (s sink) Context() context.Context { return s.ctx }
func (s sink) SendMsg(any) error        { return nil }

// A handler keeps its slot while it sends and its client reads, although another task waits for the
// slot.
func TestSendsKeepTheSlot(t *testing.T) {
	kept, lost := 0, 0 // a collection may have the handler wait
	for kept+lost < 10 {
		// A fresh runtime has not learned that the handler waits.
		rt := tasktest.Start(t, cocoon.Config{Slots: 1, StallAfter: time.Hour})
		var other atomic.Bool
		var done sync.WaitGroup
		tasktest.Must(t, StreamServerInterceptor(rt, Options{})(nil, sink{ctx: t.Context()}, &grpc.StreamServerInfo{FullMethod: "/x/y"},
			func(_ any, stream grpc.ServerStream) error {
				done.Go(func() {
					rt.Run(t.Context(), "other", func(context.Context) error { other.Store(true); return nil })
				})
				for rt.Stats().Loops[0].Queued == 0 && !other.Load() { // a pause would be found as a wait
				}
				if other.Load() {
					return nil // the handler waited for a lock
				}
				for range 10 { // a moment: other tasks do not wait for long
					tasktest.Must(t, stream.SendMsg(nil))
				}
				if other.Load() {
					lost++
				} else {
					kept++
				}
				return nil
			}))
		done.Wait()
	}
	if lost > kept {
		t.Errorf("another task had the slot meanwhile %d of %d times", lost, lost+kept)
	}
}
