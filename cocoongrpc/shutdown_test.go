package cocoongrpc

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// stopping returns a server that the test shuts down itself.
func stopping(t *testing.T, s *service) (*grpc.Server, *cocoon.Runtime, *grpc.ClientConn) {
	t.Helper()
	rt, err := cocoon.New(cocoon.Config{Slots: 2, Logger: slog.New(slog.DiscardHandler)})
	tasktest.Must(t, err)
	srv := grpc.NewServer(interceptors(rt, Options{})...)
	pb.RegisterTestServiceServer(srv, s)
	healthpb.RegisterHealthServer(srv, health.NewServer())
	return srv, rt, dial(t, listen(t, srv))
}

func soon() (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.Background(), 200*time.Millisecond)
}

// TestShutdown checks a shutdown under load: clients get complete responses or Unavailable, and
// endless calls are thrown into.
func TestShutdown(t *testing.T) {
	begun := make(chan bool, 3)
	note := func() { begun <- true }
	srv, rt, conn := stopping(t, &service{
		unary: echo,
		empty: func(ctx context.Context) error { note(); return tasktest.Spin(ctx) },
		talk:  func(s pb.TestService_FullDuplexCallServer) error { note(); return recvAll(s) },
		feed:  func(s pb.TestService_StreamingOutputCallServer) error { note(); return sendAll(s) },
	})
	client := pb.NewTestServiceClient(conn)
	var load sync.WaitGroup
	var whole atomic.Int64
	for range 8 {
		load.Go(func() {
			for {
				r, err := client.UnaryCall(patient(t), &pb.SimpleRequest{Payload: &pb.Payload{Body: []byte("hello")}})
				if err != nil {
					wantCode(t, err, codes.Unavailable)
					return
				}
				if string(r.Payload.Body) != "hello" {
					t.Errorf("half a response: %v", r)
				}
				whole.Add(1)
			}
		})
	}
	endless := func(call func() error) {
		load.Go(func() {
			info, retry := details(t, wantCode(t, call(), codes.Unavailable))
			if info.Reason != "SHUTDOWN" || info.Metadata["started"] != "true" || retry == nil {
				t.Errorf("%v %v", info, retry)
			}
		})
	}
	endless(func() error { _, err := client.EmptyCall(patient(t), &pb.Empty{}); return err })
	silent, err := client.FullDuplexCall(patient(t))
	tasktest.Must(t, err)
	endless(func() error { _, err := silent.Recv(); return err })
	slow, err := client.StreamingOutputCall(patient(t), &pb.StreamingOutputCallRequest{})
	tasktest.Must(t, err)
	for range 3 {
		tasktest.Receive(t, "an endless call", begun)
	}
	tasktest.Eventually(t, "load", func() bool { return whole.Load() > 100 })
	ctx, cancel := soon()
	defer cancel()
	tasktest.Must(t, Shutdown(ctx, srv, rt))
	for err = nil; err == nil; { // it begins to read when the server has ended
		_, err = slow.Recv()
	}
	wantCode(t, err, codes.Unavailable)
	load.Wait()
	if _, err := client.UnaryCall(patient(t), &pb.SimpleRequest{}); err == nil {
		t.Error("a server that is shut down has responded")
	}
	t.Logf("%d whole responses", whole.Load())
}

// TestShutdownDrains checks that Shutdown waits for calls to end, but not for ctx when nothing is
// left to do.
func TestShutdownDrains(t *testing.T) {
	begun, end := make(chan bool), make(chan bool)
	srv, rt, conn := stopping(t, &service{empty: func(context.Context) error { begun <- true; <-end; return nil }})
	response := make(chan error)
	go func() {
		_, err := pb.NewTestServiceClient(conn).EmptyCall(patient(t), &pb.Empty{})
		response <- err
	}()
	tasktest.Receive(t, "the call", begun)
	down := make(chan error)
	go func() { down <- Shutdown(patient(t), srv, rt) }()
	select {
	case err := <-down:
		t.Errorf("it did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	close(end)
	tasktest.Must(t, tasktest.Receive(t, "the response", response))
	tasktest.Must(t, tasktest.Receive(t, "the shutdown", down))
}

// TestShutdownGivesUp checks that a stream outside tasks, and a handler that ignores its throw, do
// not hold up Shutdown forever, and that the error names the handler.
func TestShutdownGivesUp(t *testing.T) {
	begun, end := make(chan bool), make(chan bool)
	srv, rt, conn := stopping(t, &service{empty: func(context.Context) error { begun <- true; <-end; return nil }})
	watch, err := healthpb.NewHealthClient(conn).Watch(patient(t), &healthpb.HealthCheckRequest{})
	tasktest.Must(t, err)
	_, err = watch.Recv()
	tasktest.Must(t, err)
	var call sync.WaitGroup
	call.Go(func() {
		_, err := pb.NewTestServiceClient(conn).EmptyCall(patient(t), &pb.Empty{})
		wantCode(t, err, codes.Unavailable)
	})
	tasktest.Receive(t, "the call", begun)
	ctx, cancel := soon()
	defer cancel()
	var left *cocoon.ShutdownError
	if err := Shutdown(ctx, srv, rt); !errors.As(err, &left) || len(left.Tasks) != 1 || left.Tasks[0] != emptyMethod {
		t.Errorf("the error: %v", err)
	}
	_, err = watch.Recv()
	wantCode(t, err, codes.Unavailable)
	call.Wait()
	close(end)
}
