package cocoongrpc

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	orcapb "github.com/cncf/xds/go/xds/data/orca/v3"
	orcaservice "github.com/cncf/xds/go/xds/service/orca/v3"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/balancer/weightedroundrobin"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/orca"
	"google.golang.org/grpc/resolver"
	"google.golang.org/grpc/resolver/manual"
	"google.golang.org/protobuf/proto"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// A saturated server does not report itself as idle because its tasks run without slots.
func TestSaturatedServerIsInUse(t *testing.T) {
	for _, c := range []struct {
		st   cocoon.LoopStats
		want float64
	}{
		{cocoon.LoopStats{Utilization: 0.02}, 0.02}, {cocoon.LoopStats{Utilization: 0.02, Saturated: true}, 1},
	} {
		if got := inUse(c.st); got != c.want {
			t.Errorf("%v in use, with utilization %v, saturated: %t; want %v", got, c.st.Utilization, c.st.Saturated, c.want)
		}
	}
}

// serveLoad serves the service as tasks, with load reports, and returns the address.
func serveLoad(t testing.TB, loop *cocoon.Loop, s *service) (string, *Load) {
	t.Helper()
	load := NewLoad(loop)
	srv := grpc.NewServer(append([]grpc.ServerOption{orca.CallMetricsServerOption(load)}, interceptors(loop, Options{Load: load})...)...)
	pb.RegisterTestServiceServer(srv, s)
	tasktest.Must(t, orca.Register(srv, orca.ServiceOptions{ServerMetricsProvider: load}))
	return listen(t, srv), load
}

// reportOf returns the load report in the trailer of a call.
func reportOf(t testing.TB, trailer metadata.MD) *orcapb.OrcaLoadReport {
	t.Helper()
	report := new(orcapb.OrcaLoadReport)
	values := trailer.Get("endpoint-load-metrics-bin")
	if len(values) != 1 {
		t.Errorf("%d load reports; want one", len(values))
	} else if err := proto.Unmarshal([]byte(values[0]), report); err != nil {
		t.Error(err)
	}
	return report
}

// TestReportsAreFew checks that each response has a report if calls are 2 ms apart, and that about
// a thousand responses a second have one if there are more calls.
func TestReportsAreFew(t *testing.T) {
	l := NewLoad(tasktest.Start(t, cocoon.Config{}).Loop())
	now := int64(0)
	count := func(apart time.Duration) (n int) {
		for range 10_000 {
			if now += int64(apart); l.tells(now) {
				n++
			}
		}
		return n
	}
	if n := count(2 * time.Millisecond); n != 10_000 {
		t.Errorf("of 10,000 calls 2 ms apart, %d have a report; want all", n)
	}
	if n := count(10 * time.Microsecond); n < 70 || n > 140 {
		t.Errorf("of 10,000 calls in 0.1 s, %d have a report; want about 100", n)
	}
}

// untilTold waits until the next response has a report, whatever calls there were.
func untilTold() { time.Sleep(time.Duration(reportGap)) }

// TestReports checks that a busy loop with a queue reports its load with each response, including
// the response to a refused call, and out of band.
func TestReports(t *testing.T) {
	_, loop := tasktest.Exclusive(t, cocoon.LoopConfig{Slots: 2, MaxQueue: 4}) // waiting calls keep their slots
	free := make(chan bool)
	address, _ := serveLoad(t, loop, &service{
		empty: func(context.Context) error { <-free; return nil },
		unary: echo,
	})
	conn := dial(t, address)
	client := pb.NewTestServiceClient(conn)
	var trailer metadata.MD
	_, err := client.UnaryCall(patient(t), &pb.SimpleRequest{}, grpc.Trailer(&trailer))
	tasktest.Must(t, err)
	if r := reportOf(t, trailer); r.ApplicationUtilization != leastUtilization || r.Eps != 0 {
		t.Errorf("an idle server: %v", r)
	}
	var calls sync.WaitGroup
	for range 6 {
		calls.Go(func() { client.EmptyCall(patient(t), &pb.Empty{}) })
	}
	tasktest.Eventually(t, "the queue to be full", func() bool { return loop.Stats().Queued == 4 })
	var report *orcapb.OrcaLoadReport
	tasktest.Eventually(t, "the averages to follow", func() bool {
		untilTold()
		if _, err := client.UnaryCall(patient(t), &pb.SimpleRequest{}, grpc.Trailer(&trailer)); err == nil {
			t.Fatal("it was not refused")
		}
		report = reportOf(t, trailer)
		return report.ApplicationUtilization > 2.5
	})
	check := func(name string, got, atLeast, atMost float64) {
		t.Helper()
		if got < atLeast || got > atMost {
			t.Errorf("%s is %v; want %v to %v", name, got, atLeast, atMost)
		}
	}
	untilTold()
	refused, err := client.FullDuplexCall(patient(t))
	tasktest.Must(t, err)
	if _, err := refused.Recv(); err == nil {
		t.Fatal("the stream was not refused")
	}
	stream, err := orcaservice.NewOpenRcaServiceClient(conn).StreamCoreMetrics(patient(t), &orcaservice.OrcaLoadReportRequest{})
	tasktest.Must(t, err)
	outOfBand, err := stream.Recv()
	tasktest.Must(t, err)
	for how, report := range map[string]*orcapb.OrcaLoadReport{
		"with a unary call": report, "with a stream": reportOf(t, refused.Trailer()), "out of band": outOfBand,
	} {
		// Of the slots, plus 4 queued tasks for 2 slots.
		check("application_utilization "+how, report.ApplicationUtilization, 2.5, 3)
		check("slots "+how, report.Utilization["slots"], 0.8, 1)
		check("queue "+how, report.NamedMetrics["queue"], 3, 4)
		check("eps "+how, report.Eps, 1, report.RpsFractional)
		check("refused "+how, report.NamedMetrics["refused"], report.Eps, report.Eps)
		if report.CpuUtilization != 0 || report.MemUtilization != 0 {
			t.Errorf("made up %s: %v", how, report)
		}
	}
	close(free)
	calls.Wait()
	tasktest.Eventually(t, "the averages to follow when it is over", func() bool {
		untilTold()
		_, err := client.UnaryCall(patient(t), &pb.SimpleRequest{}, grpc.Trailer(&trailer))
		tasktest.Must(t, err)
		r := reportOf(t, trailer)
		return r.ApplicationUtilization < 0.5 && r.Utilization["slots"] < 0.3 && r.NamedMetrics["queue"] < 0.3 && r.NamedMetrics["refused"] < r.RpsFractional/10
	})
}

// TestHandlersMetrics checks that metrics that a handler adds to its report are in that report
// only.
func TestHandlersMetrics(t *testing.T) {
	address, load := serveLoad(t, tasktest.Start(t, cocoon.Config{}).Loop(), &service{unary: func(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
		if r.ResponseSize > 0 {
			recorder := orca.CallMetricsRecorderFromContext(ctx)
			recorder.SetNamedMetric(fmt.Sprint(r.ResponseSize), 1)
			recorder.SetApplicationUtilization(float64(r.ResponseSize))
		}
		return echo(ctx, r)
	}})
	client := pb.NewTestServiceClient(dial(t, address))
	var clients sync.WaitGroup
	for c := range 8 {
		clients.Go(func() {
			for i := range 100 {
				id := int32(c*100 + i)
				var trailer metadata.MD
				if _, err := client.UnaryCall(patient(t), &pb.SimpleRequest{ResponseSize: id}, grpc.Trailer(&trailer)); err != nil {
					t.Error(err)
					return
				}
				if id == 0 && len(trailer.Get("endpoint-load-metrics-bin")) == 0 {
					continue // another call's response had the report
				}
				r := reportOf(t, trailer)
				_, own := r.NamedMetrics[fmt.Sprint(id)]
				if own != (id > 0) || len(r.NamedMetrics) > 3 || id > 0 && r.ApplicationUtilization != float64(id) {
					t.Errorf("call %d: %v", id, r)
				}
			}
		})
	}
	clients.Wait()
	if m := load.ServerMetrics(); len(m.NamedMetrics) != 2 {
		t.Errorf("left behind: %v", m.NamedMetrics)
	}
}

// TestRates checks that rates are per second, however often they are read: a thousand calls at once
// count as less than a thousand a second.
func TestRates(t *testing.T) {
	const calls = 1000
	load := NewLoad(tasktest.Start(t, cocoon.Config{}).Loop())
	var asking sync.WaitGroup
	for range calls {
		load.arrived()
		load.failed(false)
		load.failed(true)
		asking.Go(func() { load.ServerMetrics() })
	}
	asking.Wait()
	var m *orca.ServerMetrics
	tasktest.Eventually(t, "a rate", func() bool { m = load.ServerMetrics(); return m.QPS > 0 })
	refused := m.NamedMetrics["refused"]
	if m.QPS > calls || math.Abs(m.EPS/m.QPS-2) > 0.1 || math.Abs(refused/m.QPS-1) > 0.1 {
		t.Errorf("%+v", m)
	}
}

// balancing is a client that spreads calls over servers, and counts where they went.
type balancing struct {
	client pb.TestServiceClient
	calls  [2]atomic.Int64
}

// tally is the number of calls of each server.
type tally [2]int64

func (b *balancing) tally() tally { return tally{b.calls[0].Load(), b.calls[1].Load()} }

// share returns the first server's share of the calls since the given tally.
func (b *balancing) share(since tally) float64 {
	now := b.tally()
	first, second := float64(now[0]-since[0]), float64(now[1]-since[1])
	return first / (first + second)
}

// TestLoadMoves checks two servers behind a balancer that weighs them by their reports: when one
// server gets other work, calls go to the other server; when the work is done, they come back.
func TestLoadMoves(t *testing.T) {
	b := &balancing{}
	var loops []*cocoon.Loop
	servers := manual.NewBuilderWithScheme("two")
	var state resolver.State
	for i := range b.calls {
		_, loop := tasktest.Exclusive(t, cocoon.LoopConfig{Slots: 2})
		address, _ := serveLoad(t, loop, &service{unary: func(ctx context.Context, r *pb.SimpleRequest) (*pb.SimpleResponse, error) {
			b.calls[i].Add(1)
			time.Sleep(time.Millisecond) // keeps its slot, as work on a separate machine would
			return echo(ctx, r)
		}})
		loops = append(loops, loop)
		state.Addresses = append(state.Addresses, resolver.Address{Addr: address})
	}
	servers.InitialState(state)
	b.client = pb.NewTestServiceClient(dial(t, "two:///", grpc.WithResolvers(servers), grpc.WithDefaultServiceConfig(
		`{"loadBalancingConfig": [{"weighted_round_robin": {"blackoutPeriod": "0s", "weightUpdatePeriod": "0.1s"}}]}`)))

	stop := make(chan bool)
	var all sync.WaitGroup
	while := func(work func()) {
		all.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
					work()
				}
			}
		})
	}
	var busy atomic.Bool
	for range 3 {
		while(func() {
			if _, err := b.client.UnaryCall(patient(t), &pb.SimpleRequest{}); err != nil {
				t.Error(err)
			}
		})
	}
	for range 8 {
		while(func() {
			if !busy.Load() {
				time.Sleep(time.Millisecond)
				return
			}
			loops[0].Run(context.Background(), "other work", func(context.Context) error {
				time.Sleep(5 * time.Millisecond)
				return nil
			})
		})
	}
	var log strings.Builder
	becomes := func(what string, ok func(share float64) bool) {
		t.Helper()
		begin := time.Now()
		for share := math.NaN(); !ok(share); {
			if time.Since(begin) > tasktest.Patience {
				t.Fatalf("%s: not within %v; the first server's share, each 100 ms:%s", what, tasktest.Patience, log.String())
			}
			since := b.tally()
			time.Sleep(100 * time.Millisecond)
			share = b.share(since)
			fmt.Fprintf(&log, " %.2f", share)
		}
		fmt.Fprintf(&log, " (%s after %v)", what, time.Since(begin).Round(100*time.Millisecond))
	}
	becomes("even", func(share float64) bool { return share > 0.35 && share < 0.65 })
	busy.Store(true)
	becomes("moved away", func(share float64) bool { return share < 0.15 })
	busy.Store(false)
	becomes("back", func(share float64) bool { return share > 0.35 })
	close(stop)
	all.Wait()
	t.Log("the first server's share of the calls, each 100 ms:", log.String())
}
