package cocoongrpc

import (
	"context"
	"errors"
	"io"
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

// serveItself serves the service as tasks, and returns a client of it that gives the slot back
// during its calls.
func serveItself(t testing.TB, tasks Runner, s *service) pb.TestServiceClient {
	t.Helper()
	srv := grpc.NewServer(interceptors(tasks, Options{})...)
	pb.RegisterTestServiceServer(srv, s)
	return pb.NewTestServiceClient(dial(t, listen(t, srv),
		grpc.WithChainUnaryInterceptor(UnaryClientInterceptor), grpc.WithChainStreamInterceptor(StreamClientInterceptor)))
}

// TestCallsItself checks a server with one slot that calls itself: it would wait forever if it kept
// the slot.
func TestCallsItself(t *testing.T) {
	s := &service{unary: echo}
	_, loop := tasktest.OneSlot(t)
	client := serveItself(t, loop, s)
	s.talk = func(s pb.TestService_FullDuplexCallServer) error {
		s.SendHeader(metadata.Pairs("hello", "there"))
		return recvAll(s)
	}
	s.empty = func(ctx context.Context) error {
		if _, err := client.UnaryCall(ctx, &pb.SimpleRequest{}); err != nil {
			return err
		}
		stream, err := client.FullDuplexCall(ctx)
		if err != nil {
			return err
		}
		for range 3 {
			if err := stream.Send(&pb.StreamingOutputCallRequest{}); err != nil {
				return err
			}
		}
		if md, err := stream.Header(); err != nil || len(md["hello"]) != 1 {
			t.Errorf("the header: %v %v", md, err)
		}
		if err := stream.CloseSend(); err != nil {
			return err
		}
		if _, err := stream.Recv(); err != io.EOF {
			return errors.New("the stream has not ended")
		}
		return nil
	}
	_, err := client.EmptyCall(patient(t), &pb.Empty{})
	tasktest.Must(t, err)
}

// needsSlot opens a stream on which each call returns when another task has had the slot.
type needsSlot struct {
	grpc.ClientStream
	loop *cocoon.Loop
}

func (n *needsSlot) open(context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption) (grpc.ClientStream, error) {
	return n, n.other()
}

func (n *needsSlot) Header() (metadata.MD, error) { return nil, n.other() }
func (n *needsSlot) SendMsg(any) error            { return n.other() }
func (n *needsSlot) RecvMsg(any) error            { return n.other() }

// other runs another task, on a separate goroutine: a task that runs on this goroutine would get
// this task's slot.
func (n *needsSlot) other() error {
	ctx, cancel := context.WithTimeout(context.Background(), tasktest.Patience)
	defer cancel()
	return n.loop.Go(ctx, "other", func(context.Context) error { return nil }).Wait(context.Background())
}

// TestStreamGivesSlotBack checks that each call of a stream gives the slot back, even a call that
// rarely waits.
func TestStreamGivesSlotBack(t *testing.T) {
	_, loop := tasktest.OneSlot(t)
	tasktest.Must(t, loop.Run(context.Background(), "task", func(ctx context.Context) error {
		stream, open := StreamClientInterceptor(ctx, nil, nil, "", (&needsSlot{loop: loop}).open)
		if open != nil {
			return open
		}
		_, header := stream.Header()
		return errors.Join(header, stream.SendMsg(nil), stream.RecvMsg(nil))
	}))
}

// TestThrowBeforeCall checks that a due throw ends the context of each call, so that no call is
// made, and that the throw unwinds the task at its next safe point.
func TestThrowBeforeCall(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	s := &service{unary: func(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error) {
		t.Error("it was called")
		return nil, nil
	}, talk: recvAll}
	client := serveItself(t, rt, s)
	err := rt.Run(context.Background(), "task", func(ctx context.Context) error {
		stream, err := client.FullDuplexCall(ctx)
		if err != nil {
			return err
		}
		cocoon.TaskOf(ctx).Cancel()
		_, unary := client.UnaryCall(ctx, &pb.SimpleRequest{})
		_, open := client.FullDuplexCall(ctx)
		_, recv := stream.Recv()
		for name, err := range map[string]error{
			"call": unary, "open": open, "recv": recv, "send": stream.Send(&pb.StreamingOutputCallRequest{}),
		} {
			if status.Code(err) != codes.Canceled && err != io.EOF {
				t.Errorf("%s: %v", name, err)
			}
		}
		cocoon.SafePoint(ctx)
		t.Error("it was not thrown into")
		return nil
	})
	if !errors.Is(err, cocoon.ErrCancelled) {
		t.Errorf("the task: %v", err)
	}
}

// TestIgnoredErrors checks that a throw unwinds a loop that ignores the errors of its calls.
func TestIgnoredErrors(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	client := serveItself(t, rt, &service{unary: echo, talk: recvAll})
	for name, call := range map[string]func(context.Context){
		"unary":  func(ctx context.Context) { client.UnaryCall(ctx, &pb.SimpleRequest{}) },
		"stream": func(ctx context.Context) { client.FullDuplexCall(ctx) },
	} {
		err := rt.Run(context.Background(), "task", func(ctx context.Context) error {
			cocoon.TaskOf(ctx).Cancel()
			for end := time.Now().Add(tasktest.Patience); time.Now().Before(end); {
				call(ctx)
			}
			t.Errorf("%s: it was not thrown into", name)
			return nil
		})
		if !errors.Is(err, cocoon.ErrCancelled) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestThrowDuringCall checks that a throw during a call ends the call by its context.
func TestThrowDuringCall(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2})
	tasks := make(chan *cocoon.Task, 1)
	client := serveItself(t, rt, &service{
		empty: func(ctx context.Context) error { tasks <- nil; return recvNothing(ctx) },
		talk:  recvAll,
	})
	for name, call := range map[string]func(context.Context) error{
		"unary": func(ctx context.Context) error {
			_, err := client.EmptyCall(ctx, &pb.Empty{})
			return err
		},
		"stream": func(ctx context.Context) error {
			stream, err := client.FullDuplexCall(ctx)
			tasks <- nil
			if err == nil {
				_, err = stream.Recv()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := rt.Go(context.Background(), "task", func(ctx context.Context) error {
				wantCode(t, call(ctx), codes.Canceled)
				cocoon.SafePoint(ctx)
				t.Error("it was not thrown into")
				return nil
			})
			tasktest.Receive(t, "the call", tasks)
			h.Cancel()
			if err := h.Wait(patient(t)); !errors.Is(err, cocoon.ErrCancelled) {
				t.Errorf("the task: %v", err)
			}
		})
	}
}

// recvNothing waits for the end of a context without the slot.
func recvNothing(ctx context.Context) error {
	return cocoon.Block(ctx, func() error {
		<-ctx.Done()
		return context.Cause(ctx)
	})
}

// TestClientWithoutTask checks that the interceptors do nothing without a task.
func TestClientWithoutTask(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	client := serveItself(t, rt, &service{unary: echo, talk: recvAll})
	_, err := client.UnaryCall(patient(t), &pb.SimpleRequest{})
	tasktest.Must(t, err)
	stream, err := client.FullDuplexCall(patient(t))
	tasktest.Must(t, err)
	tasktest.Must(t, stream.CloseSend())
	if _, err := stream.Recv(); err != io.EOF {
		t.Errorf("the end: %v", err)
	}
	open := func(context.Context, *grpc.StreamDesc, *grpc.ClientConn, string, ...grpc.CallOption) (grpc.ClientStream, error) {
		return nil, errors.New("no stream")
	}
	if s, err := StreamClientInterceptor(t.Context(), nil, nil, "", open); s != nil || err == nil {
		t.Errorf("%v %v", s, err)
	}
}
