package cocoongrpc

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// eager is a client's retry policy that retries each call at once, whatever its error.
const eager = `{"methodConfig": [{"name": [{}], "retryPolicy": {"maxAttempts": 4, "initialBackoff": "0.001s", "maxBackoff": "0.001s",
	"backoffMultiplier": 1, "retryableStatusCodes": ["UNAVAILABLE", "RESOURCE_EXHAUSTED", "DEADLINE_EXCEEDED", "CANCELLED", "ABORTED"]}}]}`

// serveEager serves the service as tasks, and returns a client that retries.
func serveEager(t testing.TB, tasks Runner, o Options, s *service) pb.TestServiceClient {
	t.Helper()
	srv := grpc.NewServer(interceptors(tasks, o)...)
	pb.RegisterTestServiceServer(srv, s)
	return pb.NewTestServiceClient(dial(t, listen(t, srv), grpc.WithDefaultServiceConfig(eager)))
}

// TestRefusedIsRetried checks that a client with a retry policy retries a refused call, at the time
// that the server gives.
func TestRefusedIsRetried(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	loadPolicies(t, rt, `policies: [{name: thrice, on: enqueue, expr: 'arriving.labels["again"] == "2" ? continue() : throw("come again")'}]`)
	const after = 30 * time.Millisecond
	var calls atomic.Int32
	client := serveEager(t, rt, Options{RetryAfter: after, Context: func(ctx context.Context, _ string) context.Context {
		if n := metadata.ValueFromIncomingContext(ctx, "grpc-previous-rpc-attempts"); len(n) == 1 {
			return cocoon.WithLabel(ctx, "again", n[0])
		}
		return ctx
	}}, &service{
		unary: func(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
			calls.Add(1)
			return echo(ctx, r)
		},
		talk: func(pb.TestService_FullDuplexCallServer) error { calls.Add(1); return nil },
	})
	for name, call := range map[string]func() error{
		"unary": func() error { _, err := client.UnaryCall(patient(t), &pb.SimpleRequest{}); return err },
		"stream": func() error {
			stream, err := client.FullDuplexCall(patient(t))
			tasktest.Must(t, err)
			return recvNone(stream)
		},
	} {
		calls.Store(0)
		begin := time.Now()
		if err := call(); err != nil || calls.Load() != 1 {
			t.Errorf("%s: %v after %d calls", name, err, calls.Load())
		}
		if took := time.Since(begin); took < 2*after {
			t.Errorf("%s: two retries after %v; want %v before each", name, took, after)
		}
	}
}

// TestHalfDoneIsNotRetried checks that a call that was thrown into after it had started is not
// retried: not after a policy's throw, a time limit, Cancel, or a section's throw, and whatever
// Options.Refuse returns.
func TestHalfDoneIsNotRetried(t *testing.T) {
	for name, c := range map[string]struct {
		policies string
		refuse   func(context.Context, string, error) error
		work     func(context.Context) error
	}{
		"throw":  {"policies: [{name: stop, every: 100us, expr: 'throw(\"stop\")'}]", nil, tasktest.Spin},
		"limit":  {"limits: [{func: " + unaryMethod + ", limit: 1ms}, {func: " + talkMethod + ", limit: 1ms}]", nil, tasktest.Spin},
		"cancel": {"", nil, throwInto},
		"section": {"limits: [{func: step, limit: 1ms}]", nil, func(ctx context.Context) error {
			_, err := cocoon.Section(ctx, "step", func() (int, error) { return 0, tasktest.Spin(ctx) })
			return err
		}},
		"overloaded inside": {"", nil, func(context.Context) error { return cocoon.ErrOverloaded }},
		"own status":        {"", func(context.Context, string, error) error { return status.Error(codes.Aborted, "mine") }, throwInto},
	} {
		t.Run(name, func(t *testing.T) {
			rt := tasktest.Start(t, cocoon.Config{})
			loadPolicies(t, rt, c.policies)
			var calls atomic.Int32
			work := func(ctx context.Context) error {
				calls.Add(1)
				return c.work(ctx)
			}
			client := serveEager(t, rt, Options{RetryAfter: time.Millisecond, Refuse: c.refuse}, &service{
				unary: func(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) { return nil, work(ctx) },
				talk:  func(s pb.TestService_FullDuplexCallServer) error { return work(s.Context()) },
			})
			if _, err := client.UnaryCall(patient(t), &pb.SimpleRequest{}); err == nil || calls.Swap(0) != 1 {
				t.Errorf("unary: %v, and it was made again", err)
			}
			stream, err := client.FullDuplexCall(patient(t))
			tasktest.Must(t, err)
			if err := recvNone(stream); err == nil || calls.Load() != 1 {
				t.Errorf("stream: %v after %d calls", err, calls.Load())
			}
		})
	}
	// A stream that waits for its client is not retried either.
	rt := tasktest.Start(t, cocoon.Config{})
	var calls atomic.Int32
	client := serveEager(t, rt, Options{}, &service{talk: func(s pb.TestService_FullDuplexCallServer) error {
		calls.Add(1)
		time.AfterFunc(time.Millisecond, cocoon.TaskOf(s.Context()).Cancel)
		return recvAll(s)
	}})
	stream, err := client.FullDuplexCall(patient(t))
	tasktest.Must(t, err)
	if wantCode(t, recvNone(stream), codes.Canceled); calls.Load() != 1 {
		t.Errorf("%d calls", calls.Load())
	}
}

// recvNone returns the error that ends a stream without messages.
func recvNone(s pb.TestService_FullDuplexCallClient) error {
	switch _, err := s.Recv(); {
	case err == nil:
		return errors.New("a message")
	case err.Error() == "EOF":
		return nil
	default:
		return err
	}
}
