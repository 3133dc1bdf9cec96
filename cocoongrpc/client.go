package cocoongrpc

import (
	"context"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
)

// UnaryClientInterceptor is a grpc.UnaryClientInterceptor for calls that tasks make. If the call's
// context carries a task, the task gives its slot back during the call. Without a task, the
// interceptor does nothing.
//
//	grpc.NewClient(target, grpc.WithChainUnaryInterceptor(cocoongrpc.UnaryClientInterceptor), …)
//
// A throw does not unwind gRPC's code. If a throw is due before the call, the call returns it as
// its error, a *cocoon.PreemptedError. If the throw comes during the call, it ends the call by the
// context, and unwinds the task at its next safe point. A loop that ignores errors is unwound when
// calls have returned the throw eight times.
func UnaryClientInterceptor(ctx context.Context, method string, request, response any, conn *grpc.ClientConn,
	call grpc.UnaryInvoker, opts ...grpc.CallOption) error {
	return inside.Insist(ctx, cocoon.BlockCall(ctx, func() error { return call(ctx, method, request, response, conn, opts...) }))
}

// StreamClientInterceptor is a grpc.StreamClientInterceptor for streams that tasks open. The task
// gives its slot back while the stream is opened, and while it sends, receives, or waits for the
// header. A throw has the same effect as in UnaryClientInterceptor. The stream ends with its
// context, at the latest when the task ends.
func StreamClientInterceptor(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
	open grpc.Streamer, opts ...grpc.CallOption) (stream grpc.ClientStream, err error) {
	if cocoon.TaskOf(ctx) == nil {
		return open(ctx, desc, conn, method, opts...)
	}
	err = cocoon.BlockCall(ctx, func() (err error) {
		stream, err = open(ctx, desc, conn, method, opts...)
		return err
	})
	if err != nil {
		return nil, inside.Insist(ctx, err)
	}
	return &clientStream{stream, ctx}, nil
}

// clientStream is a stream that a task has opened.
type clientStream struct {
	grpc.ClientStream
	ctx context.Context // the task's
}

// Header implements grpc.ClientStream.
func (s *clientStream) Header() (md metadata.MD, err error) {
	err = cocoon.BlockCall(s.ctx, func() (err error) {
		md, err = s.ClientStream.Header()
		return err
	})
	return md, err
}

// SendMsg implements grpc.ClientStream.
func (s *clientStream) SendMsg(m any) error {
	return cocoon.BlockCall(s.ctx, func() error { return s.ClientStream.SendMsg(m) })
}

// RecvMsg implements grpc.ClientStream.
func (s *clientStream) RecvMsg(m any) error {
	return cocoon.BlockCall(s.ctx, func() error { return s.ClientStream.RecvMsg(m) })
}
