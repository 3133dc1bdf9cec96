package main

import (
	"context"
	"net"

	"google.golang.org/grpc"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/orca"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoongrpc"
	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// reportsServer is a server with Cocoon that sends a load report in each answer.
const reportsServer = "reports"

// serveGRPC is the server process.
func serveGRPC(kind string) error {
	var options []grpc.ServerOption
	if kind != plainServer {
		rt, err := cocoon.New(cocoon.Config{})
		if err != nil {
			return err
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

// asTasks are the options of a server whose calls are tasks of the loop.
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

// idleService answers calls by nothing, and feeds a stream as fast as its client reads.
type idleService struct {
	pb.UnimplementedTestServiceServer
}

func (idleService) EmptyCall(context.Context, *pb.Empty) (*pb.Empty, error) { return &pb.Empty{}, nil }

func (idleService) StreamingOutputCall(_ *pb.StreamingOutputCallRequest, stream pb.TestService_StreamingOutputCallServer) error {
	for message := (&pb.StreamingOutputCallResponse{}); ; {
		if err := stream.Send(message); err != nil {
			return err
		}
	}
}
