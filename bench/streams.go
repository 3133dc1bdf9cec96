package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	pb "google.golang.org/grpc/interop/grpc_testing"
)

// streamCrowds are the numbers of concurrent streams, on one connection.
var streamCrowds = []int{1, 8, 64}

// streamTime is the maximum cost of a message for a server with Cocoon, as a multiple of gRPC
// alone.
const streamTime = 1.3

// talk is a pattern of messages between client and server over a stream. It lasts until the end, or
// has that many messages, and returns their number.
type talk struct {
	name string
	talk func(ctx context.Context, client pb.TestServiceClient, messages int, end time.Time) (int64, error)
}

var talks = []talk{{"ping-pong", pingPong}, {"upload", upload}, {"feed", feed}}

// streams measures the cost of a message of a stream: gRPC alone, with streams as tasks, and with
// policies that apply to them. Each server is a separate process, and this process is its client.
func streams(ctx context.Context, r *report) error {
	return streamsWith(ctx, r, effort{rounds: 40, span: 100 * time.Millisecond})
}

func streamsWith(ctx context.Context, r *report, e effort) (err error) {
	cores, release, err := r.apart()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	kinds := []string{plainServer, cocoonServer, policiesServer}
	var servers []*server
	var clients []pb.TestServiceClient
	for _, kind := range kinds {
		s, client, stop, err := startGRPC(ctx, kind, cores, r.stderr)
		if err != nil {
			return err
		}
		defer stop()
		servers, clients = append(servers, s), append(clients, client)
	}
	for _, t := range talks {
		for _, crowd := range streamCrowds {
			messages := int(e.span.Microseconds()) / crowd // one takes about 1 µs
			var sides []side
			for i, s := range servers {
				sides = append(sides, func(ctx context.Context, e effort) (figures, error) {
					return s.drive(crowd, e.span, func(_ int, end time.Time) (int64, error) { return t.talk(ctx, clients[i], messages, end) })
				})
			}
			got, err := medians(ctx, e, sides...)
			if err != nil {
				return fmt.Errorf("%s: %w", t.name, err)
			}
			for i, name := range []string{"tasks", "tasks, policies"} {
				add := func(metric string, figure int, unit string, c claim) {
					r.add(result{Name: fmt.Sprintf("%s, %d %s", t.name, crowd, name), Metric: metric, Value: got[i+1][figure], Unit: unit,
						Peer: "gRPC alone", PeerValue: got[0][figure]}, c)
				}
				add("server_cpu", serverTime, "µs", claim{atMost: streamTime})
				add("server_switches", serverSwitches, "switches", claim{})
				add("messages", perSecond, "1/s", claim{})
			}
		}
	}
	return nil
}

// pingPong sends a message, waits for its echo, and sends the next one.
func pingPong(ctx context.Context, client pb.TestServiceClient, _ int, end time.Time) (n int64, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := client.FullDuplexCall(ctx)
	if err != nil {
		return 0, err
	}
	for message := (&pb.StreamingOutputCallRequest{}); time.Now().Before(end); n++ {
		if err := stream.Send(message); err != nil {
			return n, err
		}
		if _, err := stream.Recv(); err != nil {
			return n, err
		}
	}
	return n, nil
}

// upload sends as fast as the server reads.
func upload(ctx context.Context, client pb.TestServiceClient, _ int, end time.Time) (n int64, err error) {
	stream, err := client.StreamingInputCall(ctx)
	if err != nil {
		return 0, err
	}
	for message := (&pb.StreamingInputCallRequest{}); n%16 != 0 || time.Now().Before(end); n++ {
		if err := stream.Send(message); err != nil {
			return n, err
		}
	}
	_, err = stream.CloseAndRecv()
	return n, err
}

// feed reads a stream of that many messages. An endless stream would not do: until the client
// cancels it, the server is ahead by as many messages as the client's window holds, 13,000 a
// stream, and their cost would count with the messages that it received.
func feed(ctx context.Context, client pb.TestServiceClient, messages int, _ time.Time) (n int64, err error) {
	stream, err := client.StreamingOutputCall(ctx, feedOf(messages))
	if err != nil {
		return 0, err
	}
	for ; ; n++ {
		if _, err := stream.Recv(); err == io.EOF {
			return n, nil
		} else if err != nil {
			return n, err
		}
	}
}

// feedOf asks the server for a feed of that many messages.
func feedOf(messages int) *pb.StreamingOutputCallRequest {
	return &pb.StreamingOutputCallRequest{ResponseParameters: []*pb.ResponseParameters{{Size: int32(messages)}}}
}
