package main

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc"
	_ "google.golang.org/grpc/balancer/weightedroundrobin"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Two servers with two slots each; one of them gets other work for a while.
const (
	balanceSlots = 2
	balanceCrowd = 3 // callers
	otherCrowd   = 8 // other tasks at a time
	callTime     = time.Millisecond
	otherTime    = 5 * time.Millisecond
	away         = 0.15 // of the calls: the callers have left the busy server
	back         = 0.35 // of the calls: the callers have returned
	glance       = 100 * time.Millisecond
)

// The figures of a balancer.
const (
	busyShare = iota // of the calls, one span after the first server got other work
	leftAfter        // ms from then until its share was below away; two spans if it never was
	backAfter        // ms from its end until the share was above back; at most four spans
)

// balance measures the effect of load reports: the share of calls that a busy server gets if its
// clients weigh servers by the reports, in comparison with a round-robin balancer. The servers are
// in this process, and their tasks wait in their slots, which stands for work on separate machines.
func balance(ctx context.Context, r *report, e effort) error {
	got, err := medians(ctx, e,
		balanceSide(`{"weighted_round_robin": {"blackoutPeriod": "0s", "weightUpdatePeriod": "0.1s"}}`),
		balanceSide(`{"round_robin": {}}`))
	if err != nil {
		return err
	}
	add := func(metric string, figure int, scale float64, unit string, c claim) {
		r.add(result{Name: "busy server", Metric: metric, Value: scale * got[0][figure], Unit: unit, Peer: "round_robin", PeerValue: scale * got[1][figure]}, c)
	}
	add("share", busyShare, 100, "%", claim{atMost: 2 * away})
	add("left_after", leftAfter, 1, "ms", claim{})
	add("back_after", backAfter, 1, "ms", claim{})
	return nil
}

func balanceSide(balancer string) side {
	return func(ctx context.Context, e effort) (f figures, err error) {
		var servers [2]balanced
		var addresses resolver.State
		for i := range servers {
			s := &servers[i]
			if err := s.start(); err != nil {
				return nil, err
			}
			defer func() { err = errors.Join(err, s.stop()) }()
			addresses.Addresses = append(addresses.Addresses, resolver.Address{Addr: s.listener.Addr().String()})
		}
		names := manual.NewBuilderWithScheme("two")
		names.InitialState(addresses)
		conn, err := grpc.NewClient("two:///", grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithResolvers(names),
			grpc.WithDefaultServiceConfig(`{"loadBalancingConfig": [`+balancer+`]}`))
		if err != nil {
			return nil, err
		}
		defer conn.Close()
		return shift(ctx, e.span, pb.NewTestServiceClient(conn), &servers[0], &servers[1])
	}
}

// shift sends calls to both servers, gives one of them other work after a span, and later ends that
// work; it returns the figures.
func shift(ctx context.Context, span time.Duration, client pb.TestServiceClient, busy, idle *balanced) (figures, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer cancel(nil)
	for range balanceCrowd {
		all.Go(func() {
			for ctx.Err() == nil {
				if _, err := client.EmptyCall(ctx, &pb.Empty{}); err != nil && ctx.Err() == nil {
					cancel(err)
				}
			}
		})
	}
	share := func(during time.Duration) float64 {
		b, i := busy.calls.Load(), idle.calls.Load()
		pause(ctx, during)
		b, i = busy.calls.Load()-b, idle.calls.Load()-i
		return float64(b) / max(1, float64(b+i))
	}
	pause(ctx, span)
	work, done := context.WithCancel(ctx)
	for range otherCrowd {
		all.Go(func() { busy.occupy(work) })
	}
	left := until(ctx, 2*span, share, func(now float64) bool { return now < away })
	pause(ctx, span-left)
	f := figures{share(span / 2), left.Seconds() * 1e3, 0}
	done()
	f[backAfter] = until(ctx, 4*span, share, func(now float64) bool { return now > back }).Seconds() * 1e3
	return f, context.Cause(ctx)
}

// until returns how long it took until the share was as wanted, or the limit if it never was.
func until(ctx context.Context, limit time.Duration, share func(time.Duration) float64, wanted func(float64) bool) time.Duration {
	for begin := time.Now(); time.Since(begin) < limit && ctx.Err() == nil; {
		if wanted(share(glance)) {
			return time.Since(begin)
		}
	}
	return limit
}

// pause waits for d, or for the end of ctx.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// balanced is a server with its own runtime, which counts its calls. Its tasks sleep instead of
// working, so their loop is exclusive: on any other loop the runtime would detect their waits, and
// not count the tasks as load.
type balanced struct {
	pb.UnimplementedTestServiceServer
	rt       *cocoon.Runtime
	loop     *cocoon.Loop
	listener net.Listener
	server   *grpc.Server
	calls    atomic.Int64
}

func (b *balanced) start() (err error) {
	if b.rt, err = cocoon.New(cocoon.Config{}); err != nil {
		return err
	}
	if b.loop, err = b.rt.NewLoop(cocoon.LoopConfig{Name: "work", Slots: balanceSlots, Exclusive: true}); err != nil {
		return errors.Join(err, b.rt.Shutdown(context.Background()))
	}
	if b.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return errors.Join(err, b.rt.Shutdown(context.Background()))
	}
	b.server = grpc.NewServer(asTasks(b.loop, true)...)
	pb.RegisterTestServiceServer(b.server, b)
	go b.server.Serve(b.listener)
	return nil
}

func (b *balanced) stop() error {
	b.server.Stop()
	return b.rt.Shutdown(context.Background())
}

func (b *balanced) EmptyCall(context.Context, *pb.Empty) (*pb.Empty, error) {
	b.calls.Add(1)
	time.Sleep(callTime) // while it keeps its slot
	return &pb.Empty{}, nil
}

// occupy runs other tasks, one after another.
func (b *balanced) occupy(ctx context.Context) {
	for ctx.Err() == nil {
		b.loop.Run(ctx, "other work", func(context.Context) error { time.Sleep(otherTime); return nil })
	}
}
