package cocoongrpc

import (
	"context"
	"errors"
	"io"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

var large = &pb.StreamingOutputCallResponse{Payload: &pb.Payload{Body: make([]byte, 1<<18)}}

// sendAll sends endlessly, so that a client that does not read holds it up.
func sendAll(s interface {
	Send(*pb.StreamingOutputCallResponse) error
}) error {
	for {
		if err := s.Send(large); err != nil {
			return err
		}
	}
}

// recvAll receives to the end.
func recvAll(s pb.TestService_FullDuplexCallServer) error {
	for {
		if _, err := s.Recv(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// TestThrowEndsWaiting checks that clients that do not read, and clients that do not send, hold no
// slot, and that a throw ends the blocked calls, with the status of any throw.
func TestThrowEndsWaiting(t *testing.T) {
	for name, wait := range map[string]func(pb.TestService_FullDuplexCallServer) error{
		"send": func(s pb.TestService_FullDuplexCallServer) error { return sendAll(s) },
		"recv": recvAll,
		"inside Block": func(s pb.TestService_FullDuplexCallServer) error {
			return cocoon.Block(s.Context(), func() error { return recvAll(s) })
		},
		"both": func(s pb.TestService_FullDuplexCallServer) error {
			got := make(chan error)
			go func() { got <- recvAll(s) }()
			defer func() { <-got }()
			return sendAll(s)
		},
		"elsewhere": func(s pb.TestService_FullDuplexCallServer) error {
			got := make(chan error)
			go func() { got <- recvAll(s) }()
			return cocoon.Block(s.Context(), func() error { return <-got })
		},
	} {
		for transport, connect := range map[string]func(testing.TB, *grpc.Server, ...grpc.DialOption) *grpc.ClientConn{"own": own, "net/http": netHTTP} {
			t.Run(name+", "+transport, func(t *testing.T) {
				_, loop := tasktest.OneSlot(t)
				begun := make(chan *cocoon.Task, 1)
				srv := grpc.NewServer(interceptors(loop, Options{})...)
				pb.RegisterTestServiceServer(srv, &service{unary: echo, talk: func(s pb.TestService_FullDuplexCallServer) error {
					begun <- cocoon.TaskOf(s.Context())
					return wait(s)
				}})
				client := pb.NewTestServiceClient(connect(t, srv))
				stream, err := client.FullDuplexCall(patient(t))
				tasktest.Must(t, err)
				tasktest.Must(t, stream.Send(&pb.StreamingOutputCallRequest{}))
				task := tasktest.Receive(t, "the task", begun)
				tasktest.Eventually(t, "the task to block", func() bool { return loop.Stats().Busy == 0 })
				// In the slot of the stream that waits.
				_, err = client.UnaryCall(patient(t), &pb.SimpleRequest{})
				tasktest.Must(t, err)
				task.Cancel()
				for err = nil; err == nil; {
					_, err = stream.Recv()
				}
				info, _ := details(t, wantCode(t, err, codes.Canceled))
				if info.Reason != "CANCELLED" || info.Metadata["task"] != talkMethod {
					t.Errorf("%v", info)
				}
				tasktest.Eventually(t, "the task to end", func() bool { return loop.Stats().Ended == 2 })
				if s := task.Status(); s != cocoon.CancelledBeforeReturn {
					t.Errorf("the task: %v", s)
				}
			})
		}
	}
}

func own(t testing.TB, srv *grpc.Server, opts ...grpc.DialOption) *grpc.ClientConn {
	return dial(t, listen(t, srv), opts...)
}

// netHTTP serves gRPC with net/http's server.
func netHTTP(t testing.TB, srv *grpc.Server, opts ...grpc.DialOption) *grpc.ClientConn {
	s := httptest.NewUnstartedServer(srv)
	s.EnableHTTP2 = true
	s.StartTLS()
	t.Cleanup(s.Close)
	trust, err := credentials.NewClientTLSFromFile(writeCertificate(t, s), "example.com")
	tasktest.Must(t, err)
	return dial(t, s.Listener.Addr().String(), append(opts, grpc.WithTransportCredentials(trust))...)
}

// TestSectionAnswers checks that a throw that a Section catches leaves the stream to the handler.
func TestSectionAnswers(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	loadPolicies(t, rt, "limits: [{func: step, limit: 1ms}]")
	client := serve(t, rt, Options{}, &service{talk: func(s pb.TestService_FullDuplexCallServer) error {
		_, err := cocoon.Section(s.Context(), "step", func() (int, error) { return 0, tasktest.Spin(s.Context()) })
		var p *cocoon.PreemptedError
		if !errors.As(err, &p) {
			t.Errorf("the section: %v", err)
		}
		return s.Send(&pb.StreamingOutputCallResponse{})
	}})
	stream, err := client.FullDuplexCall(patient(t))
	tasktest.Must(t, err)
	_, err = stream.Recv()
	tasktest.Must(t, err)
	if _, err = stream.Recv(); err != io.EOF {
		t.Errorf("the end: %v", err)
	}
}

// TestClientGone checks that a client that disconnects during a stream cancels the task, and that
// the handler learns of it from the stream and its context.
func TestClientGone(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	begun, heard := make(chan bool, 1), make(chan [2]error, 1)
	client := serve(t, rt, Options{}, &service{talk: func(s pb.TestService_FullDuplexCallServer) error {
		_, err := s.Recv()
		begun <- err == nil
		err = recvAll(s)
		heard <- [2]error{err, context.Cause(s.Context())}
		return err
	}})
	ctx, cancel := context.WithCancel(patient(t))
	stream, err := client.FullDuplexCall(ctx)
	tasktest.Must(t, err)
	for range 10 {
		tasktest.Must(t, stream.Send(&pb.StreamingOutputCallRequest{}))
	}
	tasktest.Receive(t, "the handler", begun)
	cancel()
	errs := tasktest.Receive(t, "the handler", heard)
	wantCode(t, errs[0], codes.Canceled)
	if !errors.Is(errs[1], context.Canceled) {
		t.Errorf("the context: %v", errs[1])
	}
}

// TestCrowd checks that many streams on one slot all echo, in order.
func TestCrowd(t *testing.T) {
	const streams, messages = 50, 100
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	loadPolicies(t, rt, "tasks: {"+talkMethod+": both}\npreemption: {on: enqueue}")
	client := serve(t, rt, Options{Load: NewLoad(rt.Loop())}, &service{talk: func(s pb.TestService_FullDuplexCallServer) error {
		for {
			r, err := s.Recv()
			if err == io.EOF {
				return nil
			} else if err != nil {
				return err
			}
			if err := s.Send(&pb.StreamingOutputCallResponse{Payload: r.Payload}); err != nil {
				return err
			}
		}
	}})
	var all sync.WaitGroup
	for range streams {
		all.Go(func() {
			stream, err := client.FullDuplexCall(patient(t))
			if err != nil {
				t.Error(err)
				return
			}
			all.Go(func() {
				for i := range messages {
					stream.Send(&pb.StreamingOutputCallRequest{Payload: &pb.Payload{Body: []byte{byte(i)}}})
				}
				stream.CloseSend()
			})
			for i := range messages {
				r, err := stream.Recv()
				if err != nil || r.Payload.Body[0] != byte(i) {
					t.Errorf("message %d: %v %v", i, r, err)
					return
				}
			}
			if _, err := stream.Recv(); err != io.EOF {
				t.Errorf("the end: %v", err)
			}
		})
	}
	all.Wait()
}

// TestThrowAnyTime checks throws into busy streams at arbitrary times: each stream completes or
// ends with the status of a throw, and no slot is lost.
func TestThrowAnyTime(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2})
	tasks := make(chan *cocoon.Task, 100)
	client := serve(t, rt, Options{}, &service{talk: func(s pb.TestService_FullDuplexCallServer) error {
		tasks <- cocoon.TaskOf(s.Context())
		go recvAll(s)
		return sendAll(s)
	}})
	var all sync.WaitGroup
	const streams = 40
	for range streams {
		all.Go(func() {
			stream, err := client.FullDuplexCall(patient(t))
			if err != nil {
				t.Error(err)
				return
			}
			all.Go(func() {
				for stream.Send(&pb.StreamingOutputCallRequest{}) == nil {
					// Or the clients leave the servers no processor time.
					time.Sleep(50 * time.Microsecond)
				}
			})
			for err = nil; err == nil; {
				_, err = stream.Recv()
			}
			details(t, wantCode(t, err, codes.Canceled))
		})
	}
	for i := range streams {
		task := tasktest.Receive(t, "a task", tasks)
		all.Go(func() {
			time.Sleep(time.Duration(i%8) * 100 * time.Microsecond) // at an arbitrary time
			task.Cancel()
		})
	}
	all.Wait()
}

// Options.Refuse is user code: it runs under no lock of the stream. If it panics, the status is the
// throw, and not OK, and the interceptor panics: on another goroutine the panic would end the
// process.
func TestRefuseUnderNoLock(t *testing.T) {
	thrown := errors.New("thrown")
	s := &serverStream{}
	s.broken.Store(true)
	s.refuse = func(err error, _ bool) error {
		s.cutOff()
		s.end()
		panic("Refuse")
	}
	got := make(chan error, 1)
	go func() { got <- s.status(thrown, true) }()
	if err := tasktest.Receive(t, "the status", got); err != thrown {
		t.Errorf("after the panic the status is %v", err)
	}
	defer func() {
		if r := recover(); r != "Refuse" {
			t.Errorf("the interceptor panicked with %v", r)
		}
	}()
	s.refused(thrown, true)
}
