package cocoongrpc

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// sink is a stream that accepts all messages, and always has one.
type sink struct {
	grpc.ServerStream
	ctx context.Context
}

func (s sink) Context() context.Context { return s.ctx }
func (s sink) SendMsg(any) error        { return nil }
func (s sink) RecvMsg(any) error        { return nil }

// A handler keeps its slot while it sends and its client reads, although another task waits for the
// slot.
func TestSendsKeepTheSlot(t *testing.T) {
	keepsTheSlot(t, func(*serverStream) {}, func(s *serverStream) error { return s.SendMsg(nil) })
}

// A handler keeps its slot while it receives and its client is ahead of it.
func TestReceivesKeepTheSlot(t *testing.T) {
	keepsTheSlot(t, func(s *serverStream) {
		for !s.receipts.expected() {
			tasktest.Must(t, s.RecvMsg(nil))
		}
	}, func(s *serverStream) error { return s.RecvMsg(nil) })
}

// The next message is expected to be there after some that were, and not after one that was not.
func TestReceipts(t *testing.T) {
	goroutine.Learn()
	var r receipts
	receive := func(message bool) {
		n, known := goroutine.Leaves()
		if !known {
			t.Skip("this platform does not tell whether a goroutine has waited")
		}
		if !message {
			runtime.Gosched()
		}
		r.record(n, known)
	}
	prompt := func(messages int) {
		for r.prompt = 0; r.prompt < messages; { // one is late if the goroutine loses its P
			receive(true)
		}
	}
	for range 10 {
		if prompt(enough - 1); r.expected() {
			t.Fatal("after fewer prompt messages than are enough, one is expected")
		}
		if prompt(enough); !r.expected() {
			t.Fatal("after prompt messages, one is not expected")
		}
		if receive(false); r.expected() {
			t.Fatal("after a late message, one is expected")
		}
	}
	if r.prompt = enough; r.expected() {
		if r.record(0, false); r.expected() {
			t.Error("where it is not known whether a message was late, one is expected")
		}
	}
}

// keepsTheSlot checks that a task keeps its slot during calls of a stream, while another task
// waits.
func keepsTheSlot(t *testing.T, prepare func(*serverStream), call func(*serverStream) error) {
	t.Helper()
	kept, lost := 0, 0 // a collection may have the handler wait
	for kept+lost < 10 {
		// A fresh runtime has not learned that the handler waits.
		rt := tasktest.Start(t, cocoon.Config{Slots: 1, StallAfter: time.Hour})
		var other atomic.Bool
		var done sync.WaitGroup
		tasktest.Must(t, StreamServerInterceptor(rt, Options{})(nil, sink{ctx: t.Context()}, &grpc.StreamServerInfo{FullMethod: "/x/y"},
			func(_ any, stream grpc.ServerStream) error {
				prepare(stream.(*serverStream))
				done.Go(func() {
					rt.Run(t.Context(), "other", func(context.Context) error { other.Store(true); return nil })
				})
				for rt.Stats().Loops[0].Queued == 0 && !other.Load() { // a pause would be found as a wait
				}
				if other.Load() {
					return nil // the handler waited for a lock
				}
				for range 10 { // a moment: other tasks do not wait for long
					tasktest.Must(t, call(stream.(*serverStream)))
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
