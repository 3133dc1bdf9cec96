package cocoongrpc

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestCallsTellOfThrow checks that a send or a receive returns a throw as its error, and does not
// unwind the code around it. The client gets the status of the throw, whatever the handler does
// with the error; a handler that ignores errors is stopped.
func TestCallsTellOfThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	for name, call := range map[string]func(s pb.TestService_FullDuplexCallServer) error{
		"send": func(s pb.TestService_FullDuplexCallServer) error { return s.Send(&pb.StreamingOutputCallResponse{}) },
		"recv": func(s pb.TestService_FullDuplexCallServer) error { _, err := s.Recv(); return err },
	} {
		for how, end := range map[string]func(error) error{
			"returned": func(err error) error { return err },
			"wrapped":  func(err error) error { return status.Error(codes.Internal, err.Error()) },
			"ended":    func(error) error { return nil },
		} {
			t.Run(name+" "+how, func(t *testing.T) {
				var mu sync.Mutex
				client := serve(t, rt, Options{}, &service{talk: func(s pb.TestService_FullDuplexCallServer) error {
					cocoon.TaskOf(s.Context()).Cancel()
					mu.Lock()
					err := call(s)
					mu.Unlock()
					if !errors.Is(err, cocoon.ErrCancelled) {
						t.Errorf("got %v", err)
					}
					return end(err)
				}})
				stream, err := client.FullDuplexCall(patient(t))
				tasktest.Must(t, err)
				info, _ := details(t, wantCode(t, recvNone(stream), codes.Canceled))
				if info.Reason != "CANCELLED" || !mu.TryLock() {
					t.Errorf("%v, or it was unwound", info)
				}
			})
		}
		t.Run(name+" ignored", func(t *testing.T) {
			client := serve(t, rt, Options{}, &service{talk: func(s pb.TestService_FullDuplexCallServer) error {
				cocoon.TaskOf(s.Context()).Cancel()
				for {
					call(s)
				}
			}})
			stream, err := client.FullDuplexCall(patient(t))
			tasktest.Must(t, err)
			wantCode(t, recvNone(stream), codes.Canceled)
		})
	}
}

// TestUnaryAfterThrow checks that the client does not get the partial result that a handler returns
// after a throw has ended its context, and that a call is not retried if the handler turns the
// throw into an error of its own.
func TestUnaryAfterThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{StallAfter: -1})
	for name, c := range map[string]struct {
		err  error
		want codes.Code
	}{
		"what it has":  {nil, codes.Canceled},
		"unavailable":  {status.Error(codes.Unavailable, "the database"), codes.Unavailable},
		"not found":    {status.Error(codes.NotFound, "no such item"), codes.NotFound},
		"its context":  {context.Canceled, codes.Canceled},
		"by a wrapper": {status.Error(codes.Internal, "broke"), codes.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int32
			client := serveEager(t, rt, Options{}, &service{unary: func(ctx context.Context, _ *pb.SimpleRequest) (*pb.SimpleResponse, error) {
				calls.Add(1)
				time.AfterFunc(time.Millisecond, cocoon.TaskOf(ctx).Cancel)
				<-ctx.Done()
				return &pb.SimpleResponse{}, c.err
			}})
			_, err := client.UnaryCall(patient(t), &pb.SimpleRequest{})
			if wantCode(t, err, c.want); calls.Load() != 1 {
				t.Errorf("%d calls", calls.Load())
			}
		})
	}
}

// TestRecoveredIsNotRetried checks the same for an error that code creates when it recovers the
// throw.
func TestRecoveredIsNotRetried(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	var calls atomic.Int32
	client := serveEager(t, rt, Options{}, &service{unary: func(ctx context.Context, _ *pb.SimpleRequest) (_ *pb.SimpleResponse, err error) {
		calls.Add(1)
		defer func() {
			if recover() != nil {
				err = status.Error(codes.Unavailable, "broke")
			}
		}()
		return nil, throwInto(ctx)
	}})
	_, err := client.UnaryCall(patient(t), &pb.SimpleRequest{})
	if wantCode(t, err, codes.Unavailable); calls.Load() != 1 {
		t.Errorf("%d calls", calls.Load())
	}
}
