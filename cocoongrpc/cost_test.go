package cocoongrpc

import (
	"testing"

	"google.golang.org/grpc"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// BenchmarkMessage measures what a stream's messages cost without gRPC.
func BenchmarkMessage(b *testing.B) {
	for name, call := range map[string]func(grpc.ServerStream) error{
		"send":    func(s grpc.ServerStream) error { return s.SendMsg(nil) },
		"receive": func(s grpc.ServerStream) error { return s.RecvMsg(nil) },
	} {
		b.Run(name, func(b *testing.B) {
			rt := tasktest.Start(b, cocoon.Config{})
			tasktest.Must(b, StreamServerInterceptor(rt, Options{})(nil, sink{ctx: b.Context()}, &grpc.StreamServerInfo{FullMethod: "/x/y"},
				func(_ any, stream grpc.ServerStream) error {
					for b.Loop() {
						if err := call(stream); err != nil {
							return err
						}
					}
					return nil
				}))
		})
	}
}
