package cocoongrpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"
	"testing"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc/codes"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// details returns the details of a status.
func details(t *testing.T, st *status.Status) (info *errdetails.ErrorInfo, retry *errdetails.RetryInfo) {
	t.Helper()
	for _, d := range st.Details() {
		switch d := d.(type) {
		case *errdetails.ErrorInfo:
			info = d
		case *errdetails.RetryInfo:
			retry = d
		default:
			t.Errorf("a detail of type %T: %v", d, d)
		}
	}
	if info.GetDomain() != domain {
		t.Errorf("the ErrorInfo of %v: %v", st, info)
		info = &errdetails.ErrorInfo{}
	}
	return info, retry
}

func TestAnswerTo(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	past, cancel := context.WithDeadline(context.Background(), time.Unix(1, 0))
	defer cancel()
	for _, c := range []struct {
		name     string
		ctx      context.Context
		thrown   error
		code     codes.Code
		reason   string
		message  string
		retries  bool
		metadata map[string]string
	}{
		{name: "refused", thrown: &cocoon.PreemptedError{Policy: "shed", Reason: "too many", Task: "/a.B/C"},
			code: codes.ResourceExhausted, reason: "REFUSED", message: "the call was refused: too many", retries: true,
			metadata: map[string]string{"policy": "shed", "reason": "too many", "task": "/a.B/C", "started": "false"}},
		{name: "thrown", thrown: &cocoon.PreemptedError{Policy: "shed", Task: "/a.B/C", Section: "sort", Started: true},
			code: codes.ResourceExhausted, reason: "THROWN", message: "the call was stopped", retries: true,
			metadata: map[string]string{"policy": "shed", "section": "sort", "task": "/a.B/C", "started": "true"}},
		{name: "time limit", thrown: &cocoon.PreemptedError{Policy: "time-limit/sort", Reason: "late", Task: "/a.B/C", Started: true},
			code: codes.DeadlineExceeded, reason: "TIME_LIMIT", message: "the call was stopped: late",
			metadata: map[string]string{"policy": "time-limit/sort", "reason": "late", "task": "/a.B/C", "started": "true"}},
		{name: "like a time limit", thrown: &cocoon.PreemptedError{Policy: "time-limits", Task: "a", Started: true},
			code: codes.ResourceExhausted, reason: "THROWN", message: "the call was stopped", retries: true,
			metadata: map[string]string{"policy": "time-limits", "task": "a", "started": "true"}},
		{name: "overloaded", thrown: fmt.Errorf("a: %w", cocoon.ErrOverloaded),
			code: codes.ResourceExhausted, reason: "OVERLOADED", message: "the call was refused: too many wait", retries: true},
		{name: "shutdown", thrown: fmt.Errorf("a: %w", cocoon.ErrShutdown),
			code: codes.Unavailable, reason: "SHUTDOWN", message: "the server shuts down", retries: true},
		{name: "thrown at shutdown", thrown: &cocoon.PreemptedError{Task: "a", Started: true, Cause: cocoon.ErrShutdown},
			code: codes.Unavailable, reason: "SHUTDOWN", message: "the server shuts down", retries: true,
			metadata: map[string]string{"task": "a", "started": "true"}},
		{name: "cancelled", thrown: &cocoon.PreemptedError{Task: "a", Started: true, Cause: cocoon.ErrCancelled},
			code: codes.Canceled, reason: "CANCELLED", message: "the call was cancelled by the server",
			metadata: map[string]string{"task": "a", "started": "true"}},
		{name: "caller gone", ctx: over, thrown: &cocoon.PreemptedError{Policy: "caller-gone", Task: "a", Started: true},
			code: codes.Canceled, reason: "CALL_ENDED", message: "the call had ended",
			metadata: map[string]string{"policy": "caller-gone", "task": "a", "started": "true"}},
		{name: "too late", ctx: past, thrown: fmt.Errorf("a: %w", context.DeadlineExceeded),
			code: codes.DeadlineExceeded, reason: "CALL_ENDED", message: "the call had ended"},
		{name: "a context of Options.Context", thrown: fmt.Errorf("a: %w", context.Canceled),
			code: codes.Canceled, reason: "CALL_ENDED", message: "the call had ended"},
		{name: "not ours", thrown: errors.New("strange"),
			code: codes.Unknown, reason: "CALL_ENDED", message: "the call had ended"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.ctx == nil {
				c.ctx = context.Background()
			}
			st := new(Options).statusOf(c.ctx, c.thrown)
			info, retry := details(t, st)
			if st.Code() != c.code || st.Message() != c.message || info.Reason != c.reason {
				t.Errorf("%v %q %q; want %v %q %q", st.Code(), st.Message(), info.Reason, c.code, c.message, c.reason)
			}
			if (retry != nil) != c.retries || retry != nil && retry.RetryDelay.AsDuration() != time.Second {
				t.Errorf("retry: %v; want %v", retry, c.retries)
			}
			if !maps.Equal(info.Metadata, c.metadata) {
				t.Errorf("metadata %v; want %v", info.Metadata, c.metadata)
			}
			if _, retry := details(t, (&Options{RetryAfter: -1}).statusOf(c.ctx, c.thrown)); retry != nil {
				t.Error("a RetryInfo against the will of Options")
			}
		})
	}
	for _, after := range []time.Duration{1, 90 * time.Second, math.MaxInt64} { // which the policy says
		for _, o := range []Options{{}, {RetryAfter: time.Minute}, {RetryAfter: -1}} {
			st := o.statusOf(context.Background(), &cocoon.PreemptedError{Policy: "shed", RetryAfter: after})
			if _, retry := details(t, st); retry == nil || retry.RetryDelay.AsDuration() != after {
				t.Errorf("the policy says %v, the status %v", after, retry)
			}
		}
	}
	bad := &cocoon.PreemptedError{Reason: "\xff"}
	if st := new(Options).statusOf(context.Background(), bad); st.Code() != codes.ResourceExhausted || len(st.Details()) != 0 {
		t.Errorf("a reason that is not UTF-8: %v", st)
	}
}

// TestPolicies checks what clients see of policies, over a connection.
func TestPolicies(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{Slots: 2})
	loadPolicies(t, rt, `
tasks: {`+unaryMethod+`: safe}
limits: [{func: `+emptyMethod+`, limit: 1ms, reason: late}, {func: step, limit: 1ms}]
policies:
  - name: shed
    on: enqueue
    expr: 'arriving.name == "`+unaryMethod+`" and arriving.labels["tenant"] == "free" and arriving.kind == "safe" ? throw("not for free") : continue()'
  - name: stop
    every: 100us
    expr: 'task.name == "`+feedMethod+`" and task.priority == 7 and task.running > duration("1ms") ? throw("stopped") : continue()'
`)
	o := Options{
		Context: func(ctx context.Context, method string) context.Context {
			return cocoon.WithPriority(cocoon.WithLabel(ctx, "tenant", "free"), 7)
		},
		RetryAfter: 3 * time.Second,
	}
	client := serve(t, rt, o, &service{
		unary: echo,
		empty: tasktest.Spin,
		feed:  func(s pb.TestService_StreamingOutputCallServer) error { return tasktest.Spin(s.Context()) },
		talk: func(s pb.TestService_FullDuplexCallServer) error {
			_, err := cocoon.Section(s.Context(), "step", func() (int, error) { return 0, tasktest.Spin(s.Context()) })
			return fmt.Errorf("the handler: %w", err)
		},
	})
	ctx := patient(t)
	stream := func(s interface{ RecvMsg(any) error }, err error) error {
		tasktest.Must(t, err)
		return s.RecvMsg(new(pb.StreamingOutputCallResponse))
	}
	_, refused := client.UnaryCall(ctx, &pb.SimpleRequest{})
	_, late := client.EmptyCall(ctx, &pb.Empty{})
	stopped := stream(client.StreamingOutputCall(ctx, &pb.StreamingOutputCallRequest{}))
	section := stream(client.FullDuplexCall(ctx))
	for _, c := range []struct {
		err            error
		code           codes.Code
		reason, policy string
		retries        bool
	}{
		{refused, codes.ResourceExhausted, "REFUSED", "shed", true},
		{late, codes.DeadlineExceeded, "TIME_LIMIT", "time-limit/", false},
		{stopped, codes.ResourceExhausted, "THROWN", "stop", true},
		{section, codes.DeadlineExceeded, "TIME_LIMIT", "time-limit/", false},
	} {
		info, retry := details(t, wantCode(t, c.err, c.code))
		if info.Reason != c.reason || !strings.HasPrefix(info.Metadata["policy"], c.policy) {
			t.Errorf("%v; want %s by %s", info, c.reason, c.policy)
		}
		if (retry != nil) != c.retries || retry != nil && retry.RetryDelay.AsDuration() != 3*time.Second {
			t.Errorf("%s: retry %v", c.policy, retry)
		}
	}
}

// TestRefuse checks that Options.Refuse chooses the error, and that nil leaves it to the default.
func TestRefuse(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	type call struct {
		method string
		thrown error
	}
	heard := make(chan call, 10)
	client := serve(t, rt, Options{Refuse: func(ctx context.Context, method string, err error) error {
		heard <- call{method, err}
		if method == emptyMethod {
			return nil
		}
		return status.Error(codes.Aborted, "mine")
	}}, &service{
		empty: throwInto,
		unary: func(ctx context.Context, _ *pb.SimpleRequest) (*pb.SimpleResponse, error) { return nil, throwInto(ctx) },
		talk:  func(s pb.TestService_FullDuplexCallServer) error { return throwInto(s.Context()) },
	})
	ctx := patient(t)
	_, empty := client.EmptyCall(ctx, &pb.Empty{})
	_, unary := client.UnaryCall(ctx, &pb.SimpleRequest{})
	stream, err := client.FullDuplexCall(ctx)
	tasktest.Must(t, err)
	_, talk := stream.Recv()
	wantCode(t, empty, codes.Canceled)
	wantCode(t, unary, codes.Aborted)
	wantCode(t, talk, codes.Aborted)
	for _, method := range []string{emptyMethod, unaryMethod, talkMethod} {
		var p *cocoon.PreemptedError
		if c := tasktest.Receive(t, "the error", heard); c.method != method || !errors.As(c.thrown, &p) || p.Task != method {
			t.Errorf("heard of %s: %v; want %s", c.method, c.thrown, method)
		}
	}
	if len(heard) != 0 {
		t.Errorf("heard %d more", len(heard))
	}
}

// throwInto makes the runtime throw into the calling handler's task.
func throwInto(ctx context.Context) error {
	cocoon.TaskOf(ctx).Cancel()
	cocoon.SafePoint(ctx)
	return errors.New("it was not thrown into")
}

// TestRecoveredThrow checks that a throw that the handler's code recovers like any panic results in
// the status of a throw. Other statuses are the handler's own.
func TestRecoveredThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	loadPolicies(t, rt, "policies: [{name: stop, event: stop, expr: throw(\"stop\")}]\n")
	for _, c := range []struct {
		name  string
		throw bool
		err   error
		want  codes.Code
	}{
		{"internal", true, status.Error(codes.Internal, "panic"), codes.ResourceExhausted},
		{"unknown", true, status.Error(codes.Unknown, "panic"), codes.ResourceExhausted},
		{"cancelled", true, status.Error(codes.Canceled, "context canceled"), codes.ResourceExhausted},
		{"no status", true, errors.New("panic"), codes.ResourceExhausted},
		{"internal without a throw", false, status.Error(codes.Internal, "own"), codes.Internal},
		{"no status without a throw", false, errors.New("own"), codes.Unknown},
		{"another status", true, status.Error(codes.NotFound, "own"), codes.NotFound},
		{"no error", true, nil, codes.OK},
	} {
		t.Run(c.name, func(t *testing.T) {
			work := func(ctx context.Context) {
				defer func() { recover() }()
				if c.throw {
					rt.Notify("stop", 0)
					cocoon.SafePoint(ctx)
				}
			}
			client := serve(t, rt, Options{}, &service{
				unary: func(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
					work(ctx)
					return &pb.SimpleResponse{}, c.err
				},
				talk: func(s pb.TestService_FullDuplexCallServer) error {
					work(s.Context())
					return c.err
				},
			})
			_, err := client.UnaryCall(patient(t), &pb.SimpleRequest{})
			wantCode(t, err, c.want)
			stream, err := client.FullDuplexCall(patient(t))
			tasktest.Must(t, err)
			if _, err = stream.Recv(); errors.Is(err, io.EOF) {
				err = nil
			}
			wantCode(t, err, c.want)
		})
	}
}

// TestUnheardThrow checks that a stream does not count as complete if its handler returned because
// a throw ended its context.
func TestUnheardThrow(t *testing.T) {
	rt := tasktest.Start(t, cocoon.Config{})
	loadPolicies(t, rt, "policies: [{name: stop, event: stop, expr: throw(\"stop\")}]\n")
	for _, throw := range []bool{true, false} {
		client := serve(t, rt, Options{}, &service{unary: echo, talk: func(s pb.TestService_FullDuplexCallServer) error {
			if throw {
				rt.Notify("stop", 0)
				<-s.Context().Done()
			}
			return nil
		}})
		stream, err := client.FullDuplexCall(patient(t))
		tasktest.Must(t, err)
		_, err = stream.Recv()
		if throw {
			info, _ := details(t, wantCode(t, err, codes.ResourceExhausted))
			if info.Reason != "THROWN" || info.Metadata["policy"] != "stop" {
				t.Errorf("%v", info)
			}
		} else if !errors.Is(err, io.EOF) {
			t.Errorf("without a throw: %v", err)
		}
	}
}
