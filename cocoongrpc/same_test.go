package cocoongrpc

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding/gzip"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/stats"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// events records what gRPC reports of calls.
type events struct {
	mu  sync.Mutex
	all []string
}

func (e *events) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

func (e *events) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

func (e *events) HandleConn(context.Context, stats.ConnStats) {}

func (e *events) HandleRPC(_ context.Context, s stats.RPCStats) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, fmt.Sprintf("%T", s)[len("*stats."):])
}

// count returns how often gRPC has reported the event.
func (e *events) count(name string) (n int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, s := range e.all {
		if s == name {
			n++
		}
	}
	return n
}

// TestSame checks that streams of gRPC are the same with and without tasks: what the client gets,
// how often it tries, and what a stats handler of the server sees.
func TestSame(t *testing.T) {
	md := metadata.Pairs("a", "b")
	small := &pb.StreamingOutputCallResponse{Payload: &pb.Payload{Body: make([]byte, 10)}}
	for name, talk := range map[string]func(s pb.TestService_FullDuplexCallServer) error{
		"nothing":  func(pb.TestService_FullDuplexCallServer) error { return nil },
		"an error": func(pb.TestService_FullDuplexCallServer) error { return status.Error(codes.NotFound, "no") },
		"a message": func(s pb.TestService_FullDuplexCallServer) error {
			return s.Send(small)
		},
		"two messages": func(s pb.TestService_FullDuplexCallServer) error {
			s.Send(small)
			return s.Send(small)
		},
		"a header first": func(s pb.TestService_FullDuplexCallServer) error {
			if err := s.SendHeader(md); err != nil {
				t.Error(err)
			}
			if s.SetHeader(md) == nil {
				t.Error("a header after the header")
			}
			return s.Send(small)
		},
		"a header of the context": func(s pb.TestService_FullDuplexCallServer) error {
			if err := grpc.SendHeader(s.Context(), md); err != nil {
				t.Error(err)
			}
			return s.Send(small)
		},
		"a pending header": func(s pb.TestService_FullDuplexCallServer) error {
			s.SetHeader(md)
			s.SetTrailer(md)
			return s.Send(small)
		},
		"a header after a message": func(s pb.TestService_FullDuplexCallServer) error {
			s.Send(small)
			return s.SendHeader(md)
		},
		"compressed": func(s pb.TestService_FullDuplexCallServer) error {
			grpc.SetSendCompressor(s.Context(), gzip.Name) // net/http's server does not support it
			return s.Send(large)
		},
		"too large": func(s pb.TestService_FullDuplexCallServer) error {
			return s.Send(&pb.StreamingOutputCallResponse{Payload: &pb.Payload{Body: make([]byte, 1<<20)}})
		},
	} {
		for transport, connect := range map[string]func(testing.TB, *grpc.Server, ...grpc.DialOption) *grpc.ClientConn{"own": own, "net/http": netHTTP} {
			t.Run(name+", "+transport, func(t *testing.T) {
				rt := tasktest.Start(t, cocoon.Config{})
				var got [2]string
				for i, opts := range [][]grpc.ServerOption{nil, interceptors(rt, Options{})} {
					e, tries := &events{}, 0
					srv := grpc.NewServer(append(opts, grpc.StatsHandler(e), grpc.MaxSendMsgSize(1<<19))...)
					pb.RegisterTestServiceServer(srv, &service{talk: func(s pb.TestService_FullDuplexCallServer) error {
						tries++
						return talk(s)
					}})
					client := pb.NewTestServiceClient(connect(t, srv, grpc.WithDefaultServiceConfig(eager)))
					stream, err := client.FullDuplexCall(patient(t))
					tasktest.Must(t, err)
					messages := 0
					for ; err == nil; messages++ {
						_, err = stream.Recv()
					}
					header, _ := stream.Header()
					tasktest.Eventually(t, "the calls to end", func() bool { return e.count("End") == tries })
					srv.Stop()
					e.mu.Lock()
					if err != io.EOF {
						err = fmt.Errorf("%v", status.Code(err))
					}
					delete(header, "date")
					got[i] = fmt.Sprintf("%d messages, %v, header %v, trailer %v, %d tries, events %v", messages, err, header, stream.Trailer(), tries, slices.Clone(e.all))
					e.mu.Unlock()
				}
				if got[0] != got[1] {
					t.Errorf("without tasks: %s\n   with tasks: %s", got[0], got[1])
				}
			})
		}
	}
}
