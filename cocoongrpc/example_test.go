package cocoongrpc_test

import (
	"context"
	"fmt"
	"log"
	"net"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/orca"
	"google.golang.org/grpc/status"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/cocoongrpc"
)

const policies = `
version: 1
tasks:
  /grpc.testing.TestService/EmptyCall: safe          # may run while a long call is suspended
  /grpc.testing.TestService/UnaryCall: preemptible
preemption:
  on: enqueue
limits:
  - {func: /grpc.testing.TestService/UnaryCall, limit: 20ms, reason: it takes too long}
policies:
  - name: no-free-reports
    on: enqueue
    expr: 'arriving.name == "/grpc.testing.TestService/UnaryCall" and arriving.labels["tenant"] == "free" ? throw("not for free") : continue()'
`

type server struct {
	pb.UnimplementedTestServiceServer
}

func (server) EmptyCall(context.Context, *pb.Empty) (*pb.Empty, error) { return &pb.Empty{}, nil }

func (server) UnaryCall(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	for {
		cocoon.SafePoint(ctx)
	}
}

// Example serves a short call and an endless call to two tenants, and prints what their clients
// get.
func Example() {
	rt, err := cocoon.New(cocoon.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if err := rt.LoadPolicies(strings.NewReader(policies)); err != nil {
		log.Fatal(err)
	}
	load := cocoongrpc.NewLoad(rt.Loop())
	o := cocoongrpc.Options{Load: load, Context: func(ctx context.Context, method string) context.Context {
		if t := metadata.ValueFromIncomingContext(ctx, "tenant"); len(t) == 1 {
			return cocoon.WithLabel(ctx, "tenant", t[0])
		}
		return ctx
	}}
	srv := grpc.NewServer(
		orca.CallMetricsServerOption(load),
		grpc.ChainUnaryInterceptor(cocoongrpc.UnaryServerInterceptor(rt, o)),
		grpc.ChainStreamInterceptor(cocoongrpc.StreamServerInterceptor(rt, o)),
	)
	pb.RegisterTestServiceServer(srv, server{})
	if err := orca.Register(srv, orca.ServiceOptions{ServerMetricsProvider: load}); err != nil {
		log.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go srv.Serve(listener)

	conn, err := grpc.NewClient(listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		log.Fatal(err)
	}
	client := pb.NewTestServiceClient(conn)
	for _, tenant := range []string{"gold", "free"} {
		ctx := metadata.AppendToOutgoingContext(context.Background(), "tenant", tenant)
		_, short := client.EmptyCall(ctx, &pb.Empty{})
		_, long := client.UnaryCall(ctx, &pb.SimpleRequest{})
		fmt.Println(tenant, "short:", status.Code(short))
		fmt.Println(tenant, "long:", status.Code(long), "-", status.Convert(long).Message())
		for _, d := range status.Convert(long).Details() {
			switch d := d.(type) {
			case *errdetails.ErrorInfo:
				fmt.Println("  policy", d.Metadata["policy"])
			case *errdetails.RetryInfo:
				fmt.Println("  again in", d.RetryDelay.AsDuration())
			}
		}
	}
	conn.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	fmt.Println("shutdown:", cocoongrpc.Shutdown(ctx, srv, rt))
	// Output:
	// gold short: OK
	// gold long: DeadlineExceeded - the call was stopped: it takes too long
	//   policy time-limit//grpc.testing.TestService/UnaryCall
	// free short: OK
	// free long: ResourceExhausted - the call was refused: not for free
	//   policy no-free-reports
	//   again in 1s
	// shutdown: <nil>
}
