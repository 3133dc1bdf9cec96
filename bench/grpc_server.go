package main

import (
	"context"
	"io"
	"math"
	"net"
	"strings"

	"google.golang.org/grpc"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/orca"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoongrpc"
	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// reportsServer is a server with Cocoon that sends load reports.
const reportsServer = "reports"

// grpcPolicies are the policies of a server: each stream may run for a second, and may be suspended
// in favor of other tasks.
const grpcPolicies = `
version: 1
tasks:
  /grpc.testing.TestService/FullDuplexCall: both
  /grpc.testing.TestService/StreamingInputCall: both
  /grpc.testing.TestService/StreamingOutputCall: both
preemption: {on: enqueue}
limits:
  - {func: /grpc.testing.TestService/FullDuplexCall, limit: 1s}
  - {func: /grpc.testing.TestService/StreamingInputCall, limit: 1s}
  - {func: /grpc.testing.TestService/StreamingOutputCall, limit: 1s}
`

// serveGRPC is the server process.
func serveGRPC(kind string) error {
	var options []grpc.ServerOption
	if kind != plainServer {
		rt, err := cocoon.New(cocoon.Config{})
		if err != nil {
			return err
		}
		if kind == policiesServer {
			if err := rt.LoadPolicies(strings.NewReader(grpcPolicies)); err != nil {
				return err
			}
		}
		options = asTasks(rt.Loop(), kind == reportsServer)
	}
	srv := grpc.NewServer(options...)
	pb.RegisterTestServiceServer(srv, idleService{})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if err := loadtest.Attend(listener, srv.Stop); err != nil {
		return err
	}
	return srv.Serve(listener)
}

// asTasks returns the options of a server that runs calls as tasks of the loop.
func asTasks(loop *cocoon.Loop, reports bool) (options []grpc.ServerOption) {
	var o cocoongrpc.Options
	if reports {
		o.Load = cocoongrpc.NewLoad(loop)
		options = append(options, orca.CallMetricsServerOption(o.Load))
	}
	return append(options,
		grpc.ChainUnaryInterceptor(cocoongrpc.UnaryServerInterceptor(loop, o)),
		grpc.ChainStreamInterceptor(cocoongrpc.StreamServerInterceptor(loop, o)))
}

// idleService returns empty responses, echoes, and sends a stream as fast as its client reads: an
// endless one, or as many messages as feedOf asks for.
type idleService struct {
	pb.UnimplementedTestServiceServer
}

func (idleService) EmptyCall(context.Context, *pb.Empty) (*pb.Empty, error) { return &pb.Empty{}, nil }

func (idleService) StreamingOutputCall(r *pb.StreamingOutputCallRequest, stream pb.TestService_StreamingOutputCallServer) error {
	messages := int32(math.MaxInt32)
	if of := r.ResponseParameters; len(of) > 0 {
		messages = of[0].Size
	}
	message := &pb.StreamingOutputCallResponse{}
	for range messages {
		if err := stream.Send(message); err != nil {
			return err
		}
	}
	return nil
}

func (idleService) FullDuplexCall(stream pb.TestService_FullDuplexCallServer) error {
	for message := (&pb.StreamingOutputCallResponse{}); ; {
		if _, err := stream.Recv(); err != nil {
			return err
		}
		if err := stream.Send(message); err != nil {
			return err
		}
	}
}

func (idleService) StreamingInputCall(stream pb.TestService_StreamingInputCallServer) error {
	for {
		if _, err := stream.Recv(); err == io.EOF {
			return stream.SendAndClose(&pb.StreamingInputCallResponse{})
		} else if err != nil {
			return err
		}
	}
}
