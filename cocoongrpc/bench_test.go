package cocoongrpc

import (
	"context"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/orca"

	"github.com/cocoon-go/cocoon/cocoon"
)

// idleStream is a stream whose client is always ready.
type idleStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s idleStream) Context() context.Context { return s.ctx }
func (s idleStream) SendMsg(any) error        { return nil }
func (s idleStream) RecvMsg(any) error        { return nil }

// BenchmarkUnary measures what the interceptor adds to a call, without gRPC around.
func BenchmarkUnary(b *testing.B) {
	rt := start(b, cocoon.Config{})
	call := UnaryServerInterceptor(rt, Options{})
	info := &grpc.UnaryServerInfo{FullMethod: unaryMethod}
	next := func(context.Context, any) (any, error) { return nil, nil }
	for ctx := context.Background(); b.Loop(); {
		call(ctx, nil, info, next)
	}
}

// BenchmarkStream measures what the interceptor adds to a message, without gRPC around.
func BenchmarkStream(b *testing.B) {
	rt := start(b, cocoon.Config{})
	info := &grpc.StreamServerInfo{FullMethod: feedMethod}
	StreamServerInterceptor(rt, Options{})(b, idleStream{ctx: b.Context()}, info, func(_ any, s grpc.ServerStream) error {
		for b.Loop() {
			s.SendMsg(nil)
		}
		return nil
	})
}

// BenchmarkLoopback measures calls and messages on a loopback connection, 64 at once: as gRPC has them, as tasks, and with a
// load report in each answer.
func BenchmarkLoopback(b *testing.B) {
	rt := start(b, cocoon.Config{})
	load := NewLoad(rt.Loop())
	for _, side := range []struct {
		name    string
		options []grpc.ServerOption
	}{
		{"plain", nil},
		{"tasks", interceptors(rt, Options{})},
		{"reports", append([]grpc.ServerOption{orca.CallMetricsServerOption(load)}, interceptors(rt, Options{Load: load})...)},
	} {
		srv := grpc.NewServer(side.options...)
		grpc_testing.RegisterTestServiceServer(srv, &service{unary: echo, feed: func(s grpc_testing.TestService_StreamingOutputCallServer) error {
			for {
				if err := s.Send(&grpc_testing.StreamingOutputCallResponse{}); err != nil {
					return err
				}
			}
		}})
		client := grpc_testing.NewTestServiceClient(dial(b, listen(b, srv)))
		b.Run("unary/"+side.name, func(b *testing.B) {
			b.SetParallelism(32)
			b.RunParallel(func(p *testing.PB) {
				for p.Next() {
					if _, err := client.UnaryCall(b.Context(), &grpc_testing.SimpleRequest{}); err != nil {
						b.Error(err)
						return
					}
				}
			})
		})
		b.Run("message/"+side.name, func(b *testing.B) {
			stream, err := client.StreamingOutputCall(b.Context(), &grpc_testing.StreamingOutputCallRequest{})
			must(b, err)
			for b.Loop() {
				if _, err := stream.Recv(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
