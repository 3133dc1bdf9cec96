package cocoongrpc

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// serverStream is the stream of a handler that runs as a task. A send seldom waits, so it gives the
// slot back when the runtime finds it waiting. A receive gives the slot back as soon as another task
// needs it, because its duration is up to the client, unless the messages before it were there
// already (receipts).
type serverStream struct {
	grpc.ServerStream
	caller   tell.Caller
	refuse   func(thrown error, started bool) error
	receipts receipts

	watch   sync.Once
	waiting atomic.Int32 // sends and receives in progress, on any goroutine
	broken  atomic.Bool  // the task was thrown into
	opening opening

	decide   sync.Once // refuse is user code, so it is not called under mu
	outcome  error     // the status for the throw; set by decide, as is panicked
	panicked any       // the value with which refuse panicked

	// mu guards the fields below.
	mu     sync.Mutex
	stop   func() bool // stops watching ctx; nil until the first wait
	thrown error       // into the task
	ended  bool
}

// Context implements grpc.ServerStream.
func (s *serverStream) Context() context.Context { return s.caller.Ctx }

// SendMsg implements grpc.ServerStream.
func (s *serverStream) SendMsg(m any) error {
	call, err := s.caller.Begin(inside.Sends)
	if err != nil {
		return err
	}
	return s.caller.Blame(s.send(call, m))
}

func (s *serverStream) send(call inside.Call, m any) error {
	defer call.End()
	s.begin()
	defer s.waiting.Add(-1)
	if s.opening.done.Load() {
		return s.ServerStream.SendMsg(m)
	}
	return s.opening.first(func() error {
		if thrown := s.cutOff(); thrown != nil {
			return thrown
		}
		return s.ServerStream.SendMsg(m)
	})
}

// SendHeader implements grpc.ServerStream.
func (s *serverStream) SendHeader(md metadata.MD) error {
	return s.opening.first(func() error { return s.ServerStream.SendHeader(md) })
}

// RecvMsg implements grpc.ServerStream.
func (s *serverStream) RecvMsg(m any) error {
	what := inside.None
	if s.receipts.expected() {
		what = inside.Receives
	}
	call, err := s.caller.Begin(what)
	if err != nil {
		return err
	}
	return s.caller.Blame(s.receive(call, m))
}

func (s *serverStream) receive(call inside.Call, m any) error {
	defer call.End()
	s.begin()
	defer s.waiting.Add(-1)
	defer s.receipts.record(call.Leaves, call.Known)
	return s.ServerStream.RecvMsg(m)
}

// begin records a send or a receive. It takes a lock only the first time, and when the task was
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
	if s.broken.Load() { // if broken is set later, interrupt sees that a call waits
		s.release()
	}
}

// interrupt is called when the task's context has ended. If the client has disconnected, or the
// deadline has passed, gRPC ends the stream by itself; gRPC does not know of a throw.
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

// release ends the waits of a task after a throw, by ending its stream with a status. The only
// other way to end a send or a receive is to cancel the stream's context, and the client would then
// get the status of the cancellation. The method WriteStatus is not in the interface, but gRPC's
// implementations have it (TestThrowEndsWaiting); without it, the throw would wait for the client.
// With net/http's server, writing the status itself waits behind a message that the client does not
// read, so release holds no lock while it writes.
func (s *serverStream) release() {
	thrown := s.last()
	if thrown == nil {
		return
	}
	err := s.status(thrown, true)
	defer s.settle()() // a send that begins later finds the stream ended
	if t := s.transport(); t != nil {
		t.WriteStatus(status.Convert(err)) // it fails only if the client has disconnected
	}
}

// statusWriter is the part of gRPC's stream that ends it with a status.
type statusWriter interface{ WriteStatus(*status.Status) error }

// transport returns gRPC's stream, or nil if it has no such method.
func (s *serverStream) transport() statusWriter {
	w, _ := grpc.ServerTransportStreamFromContext(s.caller.Ctx).(statusWriter)
	return w
}

// last ends the stream and returns the throw, if the task waits and the stream has not ended yet.
func (s *serverStream) last() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.thrown == nil || s.waiting.Load() == 0 || s.ended {
		return nil
	}
	s.ended = true
	return s.thrown
}

// cutOff returns the throw that has ended the stream while the task waited for the client, or nil.
// The handler's own error is then only a consequence of the stream's end.
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

// refused returns the status for a throw, which the client may have already. If refuse panicked on
// another goroutine, where nothing could recover the panic, refused panics.
func (s *serverStream) refused(thrown error, started bool) error {
	err := s.status(thrown, started)
	if s.panicked != nil {
		panic(s.panicked)
	}
	// A goroutine that the throw has left behind may be in its first send, or about to begin it.
	s.mu.Lock()
	s.thrown, s.ended = cmp.Or(s.thrown, thrown), true
	s.mu.Unlock()
	s.broken.Store(true)
	s.settle()()
	return err
}

// settle makes a status possible until end is called.
func (s *serverStream) settle() (end func()) {
	return s.opening.settle(func() error { return s.ServerStream.SendHeader(nil) })
}

// status is refused without the panic.
func (s *serverStream) status(thrown error, started bool) error {
	s.decide.Do(func() {
		s.outcome = thrown // if refuse panics, the client must not get OK
		defer func() { s.panicked = recover() }()
		s.outcome = s.refuse(thrown, started)
	})
	return s.outcome
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
