package cocoongrpc_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"strings"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoongrpc"
)

// connect serves s on a port of this machine, and returns a client and what ends both.
func connect(s *grpc.Server, o ...grpc.DialOption) (client pb.TestServiceClient, end func()) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go s.Serve(listener)
	o = append(o, grpc.WithTransportCredentials(insecure.NewCredentials()))
	conn, err := grpc.NewClient(listener.Addr().String(), o...)
	if err != nil {
		log.Fatal(err)
	}
	return pb.NewTestServiceClient(conn), func() { conn.Close(); s.Stop() }
}

// limited returns a runtime that stops each call of a method after 20 ms.
func limited(method string) *cocoon.Runtime {
	rt, err := cocoon.New(cocoon.Config{QuietThrows: true})
	if err != nil {
		log.Fatal(err)
	}
	err = rt.LoadPolicies(strings.NewReader(`
version: 1
limits:
  - {func: ` + method + `, limit: 20ms, reason: it takes too long}
`))
	if err != nil {
		log.Fatal(err)
	}
	return rt
}

// Each unary call is a task with the name of its method, so a document can limit it.
func ExampleUnaryServerInterceptor() {
	rt := limited("/grpc.testing.TestService/UnaryCall")
	defer rt.Shutdown(context.Background())
	s := grpc.NewServer(grpc.ChainUnaryInterceptor(cocoongrpc.UnaryServerInterceptor(rt, cocoongrpc.Options{})))
	pb.RegisterTestServiceServer(s, server{})
	client, end := connect(s)
	defer end()
	_, err := client.EmptyCall(context.Background(), &pb.Empty{})
	fmt.Println(status.Code(err))
	_, err = client.UnaryCall(context.Background(), &pb.SimpleRequest{}) // runs without end
	fmt.Println(status.Code(err), "-", status.Convert(err).Message())
	// Output:
	// OK
	// DeadlineExceeded - the call was stopped: it takes too long
}

// echo sends each message back.
type echo struct {
	pb.UnimplementedTestServiceServer
}

func (echo) FullDuplexCall(stream pb.TestService_FullDuplexCallServer) error {
	for {
		if _, err := stream.Recv(); err != nil {
			return nil
		}
		if err := stream.Send(&pb.StreamingOutputCallResponse{}); err != nil {
			return err
		}
		fmt.Println("the task", cocoon.TaskOf(stream.Context()).Name(), "has sent a message")
	}
}

// A stream is one task. It needs no slot while it waits for a message of its client.
func ExampleStreamServerInterceptor() {
	rt, err := cocoon.New(cocoon.Config{Slots: 1})
	if err != nil {
		log.Fatal(err)
	}
	defer rt.Shutdown(context.Background())
	s := grpc.NewServer(grpc.ChainStreamInterceptor(cocoongrpc.StreamServerInterceptor(rt, cocoongrpc.Options{})))
	pb.RegisterTestServiceServer(s, echo{})
	client, end := connect(s)
	defer end()
	stream, err := client.FullDuplexCall(context.Background())
	if err != nil {
		log.Fatal(err)
	}
	_ = stream.Send(&pb.StreamingOutputCallRequest{})
	_, received := stream.Recv()
	err = rt.Run(context.Background(), "another task", func(context.Context) error { return nil })
	_ = stream.CloseSend()
	_, ended := stream.Recv()
	fmt.Println(received, err, ended == io.EOF)
	// Output:
	// the task /grpc.testing.TestService/FullDuplexCall has sent a message
	// <nil> <nil> true
}

// A task that calls another server gives its slot to other tasks during the call.
func ExampleUnaryClientInterceptor() {
	s := grpc.NewServer()
	pb.RegisterTestServiceServer(s, server{})
	client, end := connect(s, grpc.WithChainUnaryInterceptor(cocoongrpc.UnaryClientInterceptor))
	defer end()
	err := cocoon.Run(context.Background(), "caller", func(ctx context.Context) error {
		_, err := client.EmptyCall(ctx, &pb.Empty{})
		return err
	})
	fmt.Println(err)
	// Output: <nil>
}

// A task that waits for a message of another server gives its slot to other tasks meanwhile.
func ExampleStreamClientInterceptor() {
	s := grpc.NewServer()
	pb.RegisterTestServiceServer(s, echo{})
	client, end := connect(s, grpc.WithChainStreamInterceptor(cocoongrpc.StreamClientInterceptor))
	defer end()
	err := cocoon.Run(context.Background(), "caller", func(ctx context.Context) error {
		stream, err := client.FullDuplexCall(ctx)
		if err != nil {
			return err
		}
		if err := stream.CloseSend(); err != nil {
			return err
		}
		if _, err := stream.Recv(); err != io.EOF {
			return fmt.Errorf("the stream has not ended: %w", err)
		}
		return nil
	})
	fmt.Println(err)
	// Output: <nil>
}
