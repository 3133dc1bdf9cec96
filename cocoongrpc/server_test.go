package cocoongrpc

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/reflection"
	reflectpb "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// TestTask checks that a call is a task with its method's name, of the registered kind, with what
// Options.Context gives it, in the call's context.
func TestTask(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	loadPolicies(t, rt, "tasks: {"+unaryMethod+": preemptible, "+talkMethod+": safe}")
	tasks := make(chan *cocoon.Task, 1)
	check := func(ctx context.Context) error {
		md, _ := metadata.FromIncomingContext(ctx)
		deadline, ok := ctx.Deadline()
		if len(md["tenant"]) != 1 || !ok || time.Until(deadline) > tasktest.Patience {
			t.Errorf("the context: %v %v", md, deadline)
		}
		grpc.SetTrailer(ctx, metadata.Pairs("left", "behind"))
		tasks <- cocoon.TaskOf(ctx)
		return nil
	}
	client := serve(t, rt, Options{}, &service{
		unary: func(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
			check(ctx)
			return echo(ctx, r)
		},
		talk: func(s pb.TestService_FullDuplexCallServer) error { return check(s.Context()) },
	})
	ctx := metadata.AppendToOutgoingContext(patient(t), "tenant", "gold")
	var trailer metadata.MD
	response, err := client.UnaryCall(ctx, &pb.SimpleRequest{Payload: &pb.Payload{Body: []byte("hello")}}, grpc.Trailer(&trailer))
	if err != nil || string(response.Payload.Body) != "hello" || len(trailer["left"]) != 1 {
		t.Errorf("%v %v %v", response, err, trailer)
	}
	if task := tasktest.Receive(t, "the task", tasks); task.Name() != unaryMethod || task.Kind() != cocoon.Preemptible {
		t.Errorf("%s is %v", task.Name(), task.Kind())
	}
	stream, err := client.FullDuplexCall(ctx)
	tasktest.Must(t, err)
	if _, err := stream.Recv(); err == nil {
		t.Error("the stream has not ended")
	}
	if task := tasktest.Receive(t, "the task", tasks); task.Name() != talkMethod || task.Kind() != cocoon.Safe || len(stream.Trailer()["left"]) != 1 {
		t.Errorf("%s is %v; %v", task.Name(), task.Kind(), stream.Trailer())
	}
}

// TestDocument checks that a document sets a method's priority and labels, and that Options.Context
// takes precedence.
func TestDocument(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	loadPolicies(t, rt, `
tasks:
  `+unaryMethod+`: {kind: safe, priority: 2, labels: {tenant: shop}}
  `+talkMethod+`: {priority: -1}
policies:
  - name: tell
    on: enqueue
    expr: |
      arriving.priority == -1 or arriving.priority == 2 and arriving.kind == "safe" and arriving.labels.tenant == "shop"
        ? throw("as declared") : continue()
`)
	client := serve(t, rt, Options{Context: func(ctx context.Context, _ string) context.Context {
		if tenant := metadata.ValueFromIncomingContext(ctx, "tenant"); len(tenant) == 1 {
			ctx = cocoon.WithLabel(ctx, "tenant", tenant[0])
		}
		return ctx
	}}, &service{unary: echo, empty: func(context.Context) error { return nil }, talk: func(pb.TestService_FullDuplexCallServer) error { return nil }})
	ctx := patient(t)
	_, err := client.UnaryCall(ctx, &pb.SimpleRequest{})
	wantCode(t, err, codes.ResourceExhausted)
	_, err = client.UnaryCall(metadata.AppendToOutgoingContext(ctx, "tenant", "mine"), &pb.SimpleRequest{})
	wantCode(t, err, codes.OK)
	_, err = client.EmptyCall(ctx, &pb.Empty{})
	wantCode(t, err, codes.OK)
	stream, err := client.FullDuplexCall(ctx)
	tasktest.Must(t, err)
	_, err = stream.Recv()
	wantCode(t, err, codes.ResourceExhausted)
}

// TestErrors checks that the client gets what a handler returns, and that other interceptors also
// see the response next to an error.
func TestErrors(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	own := errors.New("own")
	var fails error
	outer := func(ctx context.Context, r any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		response, err := next(ctx, r)
		if response == nil || err != fails {
			t.Errorf("the interceptor around got %v, %v", response, err)
		}
		return response, err
	}
	srv := grpc.NewServer(append([]grpc.ServerOption{grpc.ChainUnaryInterceptor(outer)}, interceptors(rt, Options{})...)...)
	pb.RegisterTestServiceServer(srv, &service{unary: func(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error) {
		return &pb.SimpleResponse{}, fails
	}})
	client := pb.NewTestServiceClient(dial(t, listen(t, srv)))
	for err, want := range map[error]codes.Code{
		nil:                                    codes.OK,
		own:                                    codes.Unknown,
		status.Error(codes.NotFound, "no"):     codes.NotFound,
		context.DeadlineExceeded:               codes.DeadlineExceeded,
		fmt.Errorf("a: %w", context.Canceled):  codes.Canceled,
		status.Error(codes.Aborted, "a throw"): codes.Aborted,
	} {
		fails = err
		_, got := client.UnaryCall(patient(t), &pb.SimpleRequest{})
		wantCode(t, got, want)
	}
}

// TestPanic checks that panics pass through unchanged, and that the slot is free again.
func TestPanic(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1})
	own := errors.New("own")
	recovered := func(r any) error {
		if r != own {
			t.Errorf("panicked with %v", r)
		}
		return status.Error(codes.Internal, "sorry")
	}
	srv := grpc.NewServer(append([]grpc.ServerOption{
		grpc.ChainUnaryInterceptor(func(ctx context.Context, r any, info *grpc.UnaryServerInfo, next grpc.UnaryHandler) (_ any, err error) {
			defer func() { err = recovered(recover()) }()
			return next(ctx, r)
		}),
		grpc.ChainStreamInterceptor(func(srv any, s grpc.ServerStream, info *grpc.StreamServerInfo, next grpc.StreamHandler) (err error) {
			defer func() { err = recovered(recover()) }()
			return next(srv, s)
		}),
	}, interceptors(rt, Options{})...)...)
	pb.RegisterTestServiceServer(srv, &service{
		unary: func(context.Context, *pb.SimpleRequest) (*pb.SimpleResponse, error) { panic(own) },
		talk: func(s pb.TestService_FullDuplexCallServer) error {
			s.Send(&pb.StreamingOutputCallResponse{})
			panic(own)
		},
	})
	client := pb.NewTestServiceClient(dial(t, listen(t, srv)))
	for range 3 {
		_, err := client.UnaryCall(patient(t), &pb.SimpleRequest{})
		wantCode(t, err, codes.Internal)
		stream, err := client.FullDuplexCall(patient(t))
		tasktest.Must(t, err)
		_, err = stream.Recv()
		tasktest.Must(t, err)
		_, err = stream.Recv()
		wantCode(t, err, codes.Internal)
	}
}

// TestEndsInTheQueue checks that a handler never runs if the deadline of its call passes, or the
// client disconnects, while the call is queued.
func TestEndsInTheQueue(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, StallAfter: -1})
	occupied, free := make(chan bool, 2), make(chan bool)
	ran := make(chan bool, 10)
	client := serve(t, rt, Options{}, &service{
		empty: func(context.Context) error { occupied <- true; return tasktest.KeepSlot(free) },
		unary: func(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
			ran <- true
			return echo(ctx, r)
		},
		talk: func(pb.TestService_FullDuplexCallServer) error { ran <- true; return nil },
	})
	var calls sync.WaitGroup
	calls.Go(func() {
		if _, err := client.EmptyCall(patient(t), &pb.Empty{}); err != nil {
			t.Error(err)
		}
	})
	tasktest.Receive(t, "the slot's holder", occupied)
	short, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	_, err := client.UnaryCall(short, &pb.SimpleRequest{})
	wantCode(t, err, codes.DeadlineExceeded)
	gone, goAway := context.WithCancel(context.Background())
	calls.Go(func() {
		_, err := client.UnaryCall(gone, &pb.SimpleRequest{})
		wantCode(t, err, codes.Canceled)
	})
	stream, err := client.FullDuplexCall(gone)
	tasktest.Must(t, err)
	tasktest.Eventually(t, "both to wait", func() bool { return rt.Loop().Stats().Queued == 2 })
	goAway()
	_, err = stream.Recv()
	wantCode(t, err, codes.Canceled)
	tasktest.Eventually(t, "the queue to be empty", func() bool { return rt.Loop().Stats().Queued == 0 })
	close(free)
	calls.Wait()
	if st := rt.Loop().Stats(); len(ran) != 0 || st.Refused != 3 {
		t.Errorf("%d ran, %d were refused; want 0 and 3", len(ran), st.Refused)
	}
}

// TestCallerGone checks that policies see that the client of a running call has disconnected, or
// that the call's deadline has passed.
func TestCallerGone(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	loadPolicies(t, rt, `policies: [{name: gone, every: 1ms, expr: 'task.cancelled ? throw("gone") : continue()'}]`)
	heard := make(chan error, 1)
	begun := make(chan bool, 1)
	client := serve(t, rt, Options{Refuse: func(ctx context.Context, method string, err error) error {
		heard <- err
		return nil
	}}, &service{empty: func(ctx context.Context) error { begun <- true; return tasktest.Spin(ctx) }})
	for name, c := range map[string]struct {
		make func() (context.Context, context.CancelFunc)
		want codes.Code
	}{
		"gone": {func() (context.Context, context.CancelFunc) { return context.WithCancel(t.Context()) }, codes.Canceled},
		"late": {func() (context.Context, context.CancelFunc) {
			return context.WithTimeout(t.Context(), 500*time.Millisecond)
		}, codes.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := c.make()
			defer cancel()
			if c.want == codes.Canceled {
				go func() {
					<-begun
					cancel()
				}()
			}
			_, err := client.EmptyCall(ctx, &pb.Empty{})
			wantCode(t, err, c.want)
			var p *cocoon.PreemptedError
			if err := tasktest.Receive(t, "the throw", heard); !errors.As(err, &p) || p.Policy != "gone" || !p.Started {
				t.Errorf("%v", err)
			}
			if c.want != codes.Canceled {
				<-begun
			}
		})
	}
}

// TestOverloaded checks that a full queue refuses calls.
func TestOverloaded(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, MaxQueue: 1, StallAfter: -1})
	occupied, free := make(chan bool, 2), make(chan bool)
	client := serve(t, rt, Options{}, &service{empty: func(context.Context) error { occupied <- true; return tasktest.KeepSlot(free) }})
	var calls sync.WaitGroup
	for range 2 {
		calls.Go(func() {
			if _, err := client.EmptyCall(patient(t), &pb.Empty{}); err != nil {
				t.Error(err)
			}
		})
	}
	tasktest.Receive(t, "the slot's holder", occupied)
	tasktest.Eventually(t, "one to wait", func() bool { return rt.Loop().Stats().Queued == 1 })
	_, err := client.EmptyCall(patient(t), &pb.Empty{})
	info, retry := details(t, wantCode(t, err, codes.ResourceExhausted))
	if info.Reason != "OVERLOADED" || retry == nil {
		t.Errorf("%v %v", info, retry)
	}
	close(free)
	tasktest.Receive(t, "the other", occupied)
	calls.Wait()
}

// TestManyMethods checks that there are only as many task names as methods, whatever methods
// clients ask for.
func TestManyMethods(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	srv := grpc.NewServer(append(interceptors(rt, Options{}), grpc.UnknownServiceHandler(func(_ any, s grpc.ServerStream) error {
		return status.Error(codes.Aborted, cocoon.TaskOf(s.Context()).Name())
	}))...)
	conn := dial(t, listen(t, srv))
	var clients sync.WaitGroup
	for c := range 10 {
		clients.Go(func() {
			for i := range 300 {
				method := fmt.Sprintf("/made.Up%d/%s%d", c, strings.Repeat("x", i), i)
				err := conn.Invoke(patient(t), method, &pb.Empty{}, &pb.Empty{})
				if st := status.Convert(err); st.Code() != codes.Aborted || st.Message() != "unmatched" {
					t.Errorf("%s: %v", method, err)
				}
			}
		})
	}
	clients.Wait()
}

// TestTaskless checks that health checks, reflection and ORCA's reports go on while tasks wait, and
// hold no slot.
func TestTaskless(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, MaxQueue: 1, StallAfter: -1})
	occupied, free := make(chan bool, 2), make(chan bool)
	srv := grpc.NewServer(interceptors(rt, Options{})...)
	pb.RegisterTestServiceServer(srv, &service{empty: func(context.Context) error { occupied <- true; return tasktest.KeepSlot(free) }})
	healthpb.RegisterHealthServer(srv, health.NewServer())
	reflection.Register(srv)
	conn := dial(t, listen(t, srv))
	var calls sync.WaitGroup
	calls.Go(func() { pb.NewTestServiceClient(conn).EmptyCall(patient(t), &pb.Empty{}) })
	tasktest.Receive(t, "the slot's holder", occupied)

	checks := healthpb.NewHealthClient(conn)
	response, err := checks.Check(patient(t), &healthpb.HealthCheckRequest{})
	if err != nil || response.Status != healthpb.HealthCheckResponse_SERVING {
		t.Errorf("%v %v", response, err)
	}
	watch, err := checks.Watch(patient(t), &healthpb.HealthCheckRequest{})
	tasktest.Must(t, err)
	_, err = watch.Recv()
	tasktest.Must(t, err)
	reflected, err := reflectpb.NewServerReflectionClient(conn).ServerReflectionInfo(patient(t))
	tasktest.Must(t, err)
	tasktest.Must(t, reflected.Send(&reflectpb.ServerReflectionRequest{MessageRequest: &reflectpb.ServerReflectionRequest_ListServices{}}))
	list, err := reflected.Recv()
	if err != nil || len(list.GetListServicesResponse().GetService()) < 3 {
		t.Errorf("%v %v", list, err)
	}
	if st := rt.Stats(); st.Tasks != 1 {
		t.Errorf("%d tasks; want the one that holds the slot", st.Tasks)
	}
	close(free)
	calls.Wait()
}

// TestName checks that Options.Name decides the name, and whether a call is a task.
func TestName(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	names := make(chan string, 1)
	note := func(ctx context.Context) error {
		if task := cocoon.TaskOf(ctx); task != nil {
			names <- task.Name()
		} else {
			names <- ""
		}
		return nil
	}
	client := serve(t, rt, Options{Name: func(ctx context.Context, method string) string {
		return map[string]string{unaryMethod: "short", talkMethod: "talk"}[method]
	}}, &service{
		unary: func(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
			note(ctx)
			return echo(ctx, r)
		},
		empty: note,
		talk:  func(s pb.TestService_FullDuplexCallServer) error { return note(s.Context()) },
		feed:  func(s pb.TestService_StreamingOutputCallServer) error { return note(s.Context()) },
	})
	ctx := patient(t)
	for want, call := range map[string]func(){
		"short":   func() { client.UnaryCall(ctx, &pb.SimpleRequest{}) },
		"talk":    func() { client.FullDuplexCall(ctx) },
		"(empty)": func() { client.EmptyCall(ctx, &pb.Empty{}) },
		"(feed)":  func() { client.StreamingOutputCall(ctx, &pb.StreamingOutputCallRequest{}) },
	} {
		call()
		if got := tasktest.Receive(t, want, names); got != want && (got != "" || want[0] != '(') {
			t.Errorf("%q; want %s", got, want)
		}
	}
}

func TestNil(t *testing.T) {
	for name, f := range map[string]func(){
		"UnaryServerInterceptor":  func() { UnaryServerInterceptor(nil, Options{}) },
		"StreamServerInterceptor": func() { StreamServerInterceptor(nil, Options{}) },
		"NewLoad":                 func() { NewLoad(nil) },
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if r, _ := recover().(string); !strings.Contains(r, name) || !strings.Contains(r, "want") {
					t.Errorf("panicked with %q", r)
				}
			}()
			f()
		})
	}
}
