package main

import (
	"context"
	"errors"
	"io"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
)

// grpcCalls is how many unary calls are in flight at any time, on one connection.
const grpcCalls = 64

// grpcClaims are the minimum ratios of calls and of messages, for tasks and for tasks with reports.
var grpcClaims = [2][2]float64{{0.95, 0.9}, {0.9, 0.9}}

// grpcSection measures the cost of cocoongrpc: gRPC alone, with calls as tasks, and with load
// reports. Each server is a separate process, and this process is its client. It also measures the
// cost of the interceptors without gRPC, and the effect of load reports.
func grpcSection(ctx context.Context, r *report) error {
	if err := grpcWith(ctx, r, effort{rounds: 100, span: 50 * time.Millisecond}); err != nil {
		return err
	}
	if err := interceptors(ctx, r, effort{rounds: 5, span: 200 * time.Millisecond}); err != nil {
		return err
	}
	return balance(ctx, r, effort{rounds: 3, span: time.Second})
}

func grpcWith(ctx context.Context, r *report, e effort) (err error) {
	cores, release, err := r.apart()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	kinds := []string{plainServer, cocoonServer, reportsServer}
	var calls, messages []side
	for _, kind := range kinds {
		s, client, stop, err := startGRPC(ctx, kind, cores, r.stderr)
		if err != nil {
			return err
		}
		defer stop()
		calls = append(calls, func(ctx context.Context, e effort) (figures, error) {
			return s.drive(grpcCalls, e.span, func(_ int, end time.Time) (int64, error) { return call(ctx, client, end) })
		})
		messages = append(messages, func(ctx context.Context, e effort) (figures, error) {
			return s.drive(1, e.span, func(_ int, end time.Time) (int64, error) { return listen(ctx, client, end) })
		})
	}
	got, err := medians(ctx, e, append(calls, messages...)...)
	if err != nil {
		return err
	}
	for i, what := range []string{"call", "message"} {
		alone := got[i*len(kinds)]
		for j, name := range []string{"tasks", "tasks and reports"} {
			with := got[i*len(kinds)+1+j]
			add := func(metric string, figure int, unit string, c claim) {
				r.add(result{Name: name, Metric: what + metric, Value: with[figure], Unit: unit, Peer: "gRPC alone", PeerValue: alone[figure]}, c)
			}
			add("s", perSecond, "1/s", claim{atLeast: grpcClaims[i][j]})
			add("_server_cpu", serverTime, "µs", claim{})
			add("_server_switches", serverSwitches, "switches", claim{})
			add("_client_cpu", clientTime, "µs", claim{})
		}
	}
	return nil
}

// call makes unary calls, one after another, and returns how many succeeded until the end.
func call(ctx context.Context, client pb.TestServiceClient, end time.Time) (n int64, err error) {
	for ; time.Now().Before(end); n++ {
		if _, err := client.EmptyCall(ctx, &pb.Empty{}); err != nil {
			return n, err
		}
	}
	return n, nil
}

// listen reads a stream, and returns how many messages came until the end.
func listen(ctx context.Context, client pb.TestServiceClient, end time.Time) (n int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.StreamingOutputCall(ctx, &pb.StreamingOutputCallRequest{})
	if err != nil {
		return 0, err
	}
	for ; n%16 != 0 || time.Now().Before(end); n++ {
		if _, err := stream.Recv(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// startGRPC starts a gRPC server, and a client for it. stop ends both.
func startGRPC(
	ctx context.Context, kind string, cores []int, stderr io.Writer,
) (s *server, client pb.TestServiceClient, stop func(), err error) {
	if s, err = startServer(ctx, "grpc", kind, cores, stderr); err != nil {
		return nil, nil, nil, err
	}
	conn, err := grpc.NewClient(s.address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		s.child.Stop()
		return nil, nil, nil, err
	}
	return s, pb.NewTestServiceClient(conn), func() { conn.Close(); s.child.Stop() }, nil
}
