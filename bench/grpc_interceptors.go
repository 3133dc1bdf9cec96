package main

import (
	"context"

	"google.golang.org/grpc"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoongrpc"
)

// interceptors measures what the interceptors add to a call and to a message, without gRPC; their
// peer is an empty Run.
func interceptors(ctx context.Context, r *report, e effort) error {
	got, err := medians(ctx, e, runSide, callSide, messageSide)
	if err != nil {
		return err
	}
	for i, what := range []string{"call", "message"} {
		r.add(result{Name: "interceptor", Metric: what, Value: got[1+i][ns], Unit: "ns", Peer: "empty Run", PeerValue: got[0][ns]}, claim{})
	}
	return nil
}

func callSide(ctx context.Context, e effort) (figures, error) {
	return withRuntime(cocoon.Config{Slots: 1}, func(rt *cocoon.Runtime) (f figures, err error) {
		intercept := cocoongrpc.UnaryServerInterceptor(rt, cocoongrpc.Options{})
		info := &grpc.UnaryServerInfo{FullMethod: "/bench.Empty/Call"}
		next := func(context.Context, any) (any, error) { return nil, nil }
		f = perOperation(e.span, func(n int) {
			for range n {
				if _, e := intercept(ctx, nil, info, next); e != nil {
					err = e
				}
			}
		})
		return f, err
	})
}

func messageSide(ctx context.Context, e effort) (figures, error) {
	return withRuntime(cocoon.Config{Slots: 1}, func(rt *cocoon.Runtime) (f figures, err error) {
		intercept := cocoongrpc.StreamServerInterceptor(rt, cocoongrpc.Options{})
		info := &grpc.StreamServerInfo{FullMethod: "/bench.Empty/Feed"}
		err = intercept(e, readyStream{ctx: ctx}, info, func(_ any, s grpc.ServerStream) (err error) {
			f = perOperation(e.span, func(n int) {
				for range n {
					if e := s.SendMsg(nil); e != nil {
						err = e
					}
				}
			})
			return err
		})
		return f, err
	})
}

// readyStream is a stream whose client is always ready.
type readyStream struct {
	grpc.ServerStream
	ctx context.Context
}

func (s readyStream) Context() context.Context { return s.ctx }
func (s readyStream) SendMsg(any) error        { return nil }
func (s readyStream) RecvMsg(any) error        { return nil }
