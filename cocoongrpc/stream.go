package cocoongrpc

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// serverStream is the stream of a handler that runs as a task. The slot is for others while it
// waits for the client, always and not only once that turns out slow, because the client decides
// how slow.
type serverStream struct {
	grpc.ServerStream
	caller tell.Caller
	refuse func(thrown error, started bool) (answer error)

	watch   sync.Once
	waiting atomic.Int32 // sends and receives under way, also on goroutines that the handler started
	broken  atomic.Bool  // the task was thrown into

	// Guarded by mu.
	mu     sync.Mutex
	stop   func() bool // of watching ctx; nil as long as nothing has waited
	thrown error       // into the task
	answer error       // to thrown, once there is one
	ended  bool
}

// Context implements grpc.ServerStream.
func (s *serverStream) Context() context.Context { return s.caller.Ctx }

// SendMsg implements grpc.ServerStream.
func (s *serverStream) SendMsg(m any) error {
	return s.caller.CallBriefly(func() error {
		s.begin()
		defer s.waiting.Add(-1)
		return s.ServerStream.SendMsg(m)
	})
}

// RecvMsg implements grpc.ServerStream.
func (s *serverStream) RecvMsg(m any) error {
	return s.caller.Call(func() error {
		s.begin()
		defer s.waiting.Add(-1)
		return s.ServerStream.RecvMsg(m)
	})
}

// begin notes a send or a receive. It takes no lock, but for the first, and where the task was
// thrown into.
func (s *serverStream) begin() {
	s.waiting.Add(1)
	s.watch.Do(func() {
		stop := inside.OnThrow(s.caller.Ctx, s.interrupt)
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.stop = stop; s.ended {
			stop()
		}
	})
	if s.broken.Load() { // before, interrupt has seen that something waits
		s.release()
	}
}

// interrupt is called when the task's context has ended. Where the client has gone, or time is up,
// the stream ends by itself; a throw it does not know of.
func (s *serverStream) interrupt() {
	var p *cocoon.PreemptedError
	if errors.As(context.Cause(s.caller.Ctx), &p) {
		s.mu.Lock()
		s.thrown = p
		s.broken.Store(true)
		s.mu.Unlock()
		s.release()
	}
}

// release ends the waiting of a task that was thrown into, by the end of its stream: by its status,
// since there is no other way to end a send or a receive but to cancel the stream's context, whose
// status it would be then. The method is not in the interface, but what there is behind it has it
// (TestThrowEndsWaiting); without it, the throw would wait for the client. With net/http's server
// the status itself waits behind a message that the client does not read; so it holds no lock.
func (s *serverStream) release() {
	answer := s.last()
	if answer == nil {
		return
	}
	transport, ok := grpc.ServerTransportStreamFromContext(s.caller.Ctx).(interface{ WriteStatus(*status.Status) error })
	if ok {
		transport.WriteStatus(status.Convert(answer)) // its error is that the client has gone
	}
}

// last returns the answer that ends the stream, if there is something to end and nobody has.
func (s *serverStream) last() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.thrown == nil || s.waiting.Load() == 0 || s.ended {
		return nil
	}
	s.ended = true
	s.answer = s.refuse(s.thrown, true)
	return s.answer
}

// cutOff returns the throw that has ended the stream while the task waited for the client, or nil.
// Whatever the handler says after that is about the stream's end.
func (s *serverStream) cutOff() error {
	if !s.broken.Load() {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		return nil
	}
	return s.thrown
}

// refused returns the answer to a throw, which the client may have already.
func (s *serverStream) refused(thrown error, started bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answer == nil {
		s.answer = s.refuse(thrown, started)
	}
	return s.answer
}

// end is called when the handler has returned.
func (s *serverStream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ended = true
	if s.stop != nil {
		s.stop()
	}
}
