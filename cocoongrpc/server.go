package cocoongrpc

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/orca"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tell"
)

// UnaryServerInterceptor returns an interceptor that runs each unary call as a task of the runtime
// or loop, on the server's goroutine. The call's context is the parent of the task's. When the
// call's deadline has passed or its client has disconnected, policies see the task as cancelled
// (task.cancelled), and a queued task does not start. Panics of the handler pass through.
//
// If a task is refused or thrown into, its client gets a status:
//
//	ResourceExhausted  a policy refused the task, or threw into it; or the queue is full
//	DeadlineExceeded   a time limit: a policy named "time-limit/…", as a document's limits are; or
//	                   the call's own deadline passed in the queue
//	Unavailable        the runtime is shutting down
//	Canceled           Task.Cancel, or the client has disconnected
//
// The status has an ErrorInfo detail of the domain "github.com/cocoon-go/cocoon", with a reason
// (REFUSED, THROWN, OVERLOADED, TIME_LIMIT, SHUTDOWN, CANCELLED, CALL_ENDED) and the metadata
// policy, reason, task, section and started, as far as they are known. Where a retry may help, the
// status also has a RetryInfo detail. A client with a gRPC retry policy retries a call that did not
// reach its handler, after the time in the trailer grpc-retry-pushback-ms; the trailer keeps it
// from retrying a call that was stopped halfway.
//
// The client gets such a status in three other cases too: if the handler returns such an error
// itself, for example from cocoon.Section; if the handler was thrown into and fails without a
// status, or with Internal, Unknown or Canceled, as happens if code inside it recovers panics, or
// when its context ends; and if a throw has ended the handler's context and the handler returns a
// partial result without an error. Other codes are the handler's own, but clients are told not to
// retry the call.
//
// The interceptor costs about 0.4 µs a call (bench: grpc). It panics if tasks is nil.
func UnaryServerInterceptor(tasks Runner, o Options) grpc.UnaryServerInterceptor {
	s := newServer("UnaryServerInterceptor", tasks, o)
	return func(ctx context.Context, request any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (response any, err error) {
		name := s.options.name(ctx, info.FullMethod, true)
		if name == "" {
			return next(ctx, request)
		}
		started, thrown, err := s.run(ctx, info.FullMethod, name, func(ctx context.Context) (err error) {
			response, err = next(ctx, request)
			return err
		})
		if thrown != nil {
			return nil, s.refuse(ctx, info.FullMethod, thrown, started)
		}
		return response, err
	}
}

// StreamServerInterceptor returns an interceptor that does for streams what UnaryServerInterceptor
// does for unary calls: each stream is one task, from its start to its end. While the handler
// receives, and when a send waits, it gives its slot back; it queues for a slot again afterwards.
// It keeps the slot while the client is ahead of it, so that messages are there already. When a
// throw is due, a send or a receive returns it as its error, a *cocoon.PreemptedError, and unwinds
// no code; only a handler that ignores the error and continues is thrown into there. A throw also
// ends a SendMsg or RecvMsg that the client holds up, and with it the stream. The exception is a
// SendMsg on net/http's server (grpc.Server.ServeHTTP) while the client does not read: it ends with
// the connection.
//
// Goroutines that a handler starts may use the stream as usual. They are not part of the task, and
// a handler that waits for them should do so inside cocoon.Block.
//
// A stream costs as much as a unary call, and about 0.1 µs a message if no task waits for a slot
// (BenchmarkMessage). Including gRPC, a message took the server 1.03 to 1.3 times the processor time
// of gRPC alone, ping-pong and one way, over 1 to 64 streams (bench: streams). The interceptor
// panics if tasks is nil.
func StreamServerInterceptor(tasks Runner, o Options) grpc.StreamServerInterceptor {
	s := newServer("StreamServerInterceptor", tasks, o)
	return func(service any, under grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		ctx := under.Context()
		name := s.options.name(ctx, info.FullMethod, service != nil)
		if name == "" {
			return next(service, under)
		}
		stream := &serverStream{ServerStream: under, refuse: func(thrown error, started bool) error {
			return s.refuse(ctx, info.FullMethod, thrown, started)
		}}
		defer stream.end()
		started, thrown, err := s.run(ctx, info.FullMethod, name, func(ctx context.Context) error {
			stream.caller.Ctx = ctx
			err := next(service, stream)
			if p := tell.Thrown(ctx); stream.caller.Told(p) && (err == nil || says(err, broken)) {
				return p
			}
			if err != nil {
				return cmp.Or(stream.cutOff(), err)
			}
			return nil
		})
		if thrown != nil {
			return stream.refused(thrown, started)
		}
		return err
	}
}

// server is the common part of both interceptors.
type server struct {
	tasks   Runner
	options Options
}

func newServer(name string, tasks Runner, o Options) *server {
	if tasks == nil {
		panic("cocoongrpc: " + name + ": the runtime is nil; want what cocoon.New returned, or one of its loops")
	}
	return &server{tasks, o}
}

// run runs next as the call's task, and reports whether next was called. thrown is the reason if
// the task was refused or thrown into; otherwise err is what next returned.
func (s *server) run(ctx context.Context, method, name string, next func(context.Context) error) (started bool, thrown, err error) {
	if s.options.Load != nil {
		if s.options.Load.arrived() {
			// A response has a report only if the call has asked for its recorder.
			orca.CallMetricsRecorderFromContext(ctx)
		}
	}
	call := ctx
	if s.options.Context != nil {
		ctx = s.options.Context(ctx, method)
	}
	thrown = s.tasks.Run(ctx, name, func(ctx context.Context) error {
		started = true
		if err = next(ctx); err == nil {
			return unheard(ctx)
		}
		because := behind(ctx, err)
		if because == nil && tell.Thrown(ctx) != nil {
			halfDone(call)
		}
		return because
	})
	if thrown != nil && s.options.Load != nil {
		s.options.Load.failed(started)
	}
	return started, thrown, err
}

// unheard returns the throw into the task that has ended ctx but has not reached the handler, or
// nil. A throw into a section is left to the code that opened the section.
func unheard(ctx context.Context) error {
	var p *cocoon.PreemptedError
	if errors.As(context.Cause(ctx), &p) && p.Section == "" && p.Where() == "" {
		return p
	}
	return nil
}

// broken are the codes that a handler returns if it was thrown into without noticing it.
var broken = []codes.Code{codes.Canceled, codes.Internal, codes.Unknown}

// says reports whether an error has one of these codes; an error without a code counts as Unknown.
func says(err error, some []codes.Code) bool { return slices.Contains(some, status.Code(err)) }

// behind returns the throw or the refusal that caused a handler's error, or nil. Either the error
// is the throw or the refusal itself, or the handler was thrown into and reports only a failure, as
// code that recovers all panics does, or the end of its context. behind must be called within the
// task.
func behind(ctx context.Context, err error) error {
	_, ok := status.FromError(err)
	var p *cocoon.PreemptedError
	switch {
	case !ok && (errors.As(err, &p) || errors.Is(err, cocoon.ErrOverloaded) || errors.Is(err, cocoon.ErrShutdown)):
		return err
	case ok && !says(err, broken):
		return nil
	}
	if p = cocoon.Thrown(ctx); p != nil && (p.Where() != "" || ctx.Err() != nil) || errors.As(context.Cause(ctx), &p) {
		return p
	}
	return nil
}
