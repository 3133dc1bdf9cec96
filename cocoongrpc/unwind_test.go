package cocoongrpc

import (
	"context"
	"testing"
	"time"
	_ "unsafe" // for go:linkname

	"google.golang.org/grpc"
	pb "google.golang.org/grpc/interop/grpc_testing"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
	"github.com/cocoon-go/cocoon/safepoint"
)

// lockedLink is what rewritten packages call: polls count only in programs with rewritten packages.
//
//go:linkname lockedLink github.com/cocoon-go/cocoon/safepoint.lockedLink
var lockedLink func(pkg, file string, lines []int, locks []string, ends, fresh []int)

// TestClientIsNotUnwound checks that polls inside a client's calls do not throw, in Invoke and in
// the methods of its streams: a throw would leave the resources of the connection that the call had
// taken.
func TestClientIsNotUnwound(t *testing.T) {
	lockedLink("a/rewritten/package", "", nil, nil, nil, nil)
	rt := tasktest.Start(t, cocoon.Config{})
	client := func(opts ...grpc.DialOption) pb.TestServiceClient {
		srv := grpc.NewServer()
		pb.RegisterTestServiceServer(srv, &service{unary: echo, talk: func(s pb.TestService_FullDuplexCallServer) error {
			_, err := s.Recv()
			return err
		}})
		return pb.NewTestServiceClient(dial(t, listen(t, srv), opts...))
	}
	var poll func()
	polling := grpc.WithUnaryInterceptor(func(ctx context.Context, method string, r, a any, c *grpc.ClientConn, next grpc.UnaryInvoker, o ...grpc.CallOption) error {
		poll()
		return next(ctx, method, r, a, c, o...)
	})
	for name, call := range map[string]func(ctx context.Context){
		"invoke": func(ctx context.Context) { client(polling).UnaryCall(ctx, &pb.SimpleRequest{}) },
		"send": func(ctx context.Context) {
			s, err := client().FullDuplexCall(ctx, grpc.ForceCodec(codec{&poll}))
			tasktest.Must(t, err)
			s.Send(&pb.StreamingOutputCallRequest{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			inside, behind := false, false
			err := rt.Run(context.Background(), "job", func(ctx context.Context) error {
				poll = func() {
					cocoon.TaskOf(ctx).Cancel()
					safepoint.Poll()
					inside = true
				}
				call(ctx)
				behind = true
				for end := time.Now().Add(tasktest.Patience); time.Now().Before(end); {
					safepoint.Poll() // several, because the word is lowered now and then
				}
				return nil
			})
			if err == nil || !inside || !behind {
				t.Errorf("got %v; inside %v, behind %v", err, inside, behind)
			}
		})
	}
}

// codec polls while it encodes.
type codec struct{ poll *func() }

func (c codec) Marshal(any) ([]byte, error) { (*c.poll)(); return nil, nil }
func (c codec) Unmarshal([]byte, any) error { return nil }
func (c codec) Name() string                { return "proto" }
