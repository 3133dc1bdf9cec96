package cocoongrpc

import (
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/orca"

	"github.com/cocoon-go/cocoon/cocoon"
)

// Load is the load of a loop, in the form of ORCA reports for gRPC's and Envoy's balancers. It is
// an orca.ServerMetricsProvider:
//
//	orca.CallMetricsServerOption(load)                                    // with responses
//	orca.Register(srv, orca.ServiceOptions{ServerMetricsProvider: load})  // out of band
//
// It also counts the calls of the interceptors that have it in their Options. A report holds:
//
//	application_utilization    the share of slot time in use, plus queued tasks per slot: 2 if all
//	                           slots are in use and as many tasks are queued; never 0, which
//	                           balancers take for unknown
//	rps_fractional             calls a second
//	eps                        calls a second that were refused or thrown into
//	utilization["slots"]       the share of slot time in use, 0 to 1; 1 while the process is
//	                           saturated, because tasks run without slots then
//	named_metrics["queue"]     tasks that wait for a slot
//	named_metrics["refused"]   calls a second that never started
//
// All values are averages over about a second. Balancers like weighted_round_robin send calls in
// proportion to rps_fractional / (application_utilization + eps/rps_fractional). All methods are
// safe for concurrent use. Load has no goroutine: it reads the loop's statistics when calls arrive
// and reports are made, every 50 ms at most.
//
// A report costs the server about 15 µs of processor time and the client 10 µs, mostly in package
// orca and in decoding. So a busy server does not send a report with each response: about a
// thousand responses a second have one, chosen at random, or all responses if calls are at least
// 2 ms apart. Balancers read reports ten times a second at most. The cost of out-of-band reports is
// negligible.
type Load struct {
	loop  *cocoon.Loop
	start time.Time
	due   atomic.Int64 // when to read the loop's statistics again, in ns since start
	tell  atomic.Int64 // the earliest time of the next report with a response, in ns since start

	// Counts since start.
	calls   atomic.Int64
	refused atomic.Int64
	thrown  atomic.Int64

	// mu guards the fields below.
	mu          sync.Mutex
	at          int64  // the time of the last read, in ns since start
	seen        counts // the counts at that time
	rates       counts // a second
	utilization float64
	queue       float64 // tasks
	slots       float64
}

// counts are numbers of calls, or of calls a second.
type counts struct{ calls, refused, thrown float64 }

const (
	lookEvery  = int64(50 * time.Millisecond)
	loadWindow = float64(time.Second)

	// reportGap is the longest time without a report in a response after a response that had one;
	// the average is half of it.
	reportGap = int64(2 * time.Millisecond)

	// leastUtilization is the utilization that an idle loop reports.
	leastUtilization = 0.001
)

// NewLoad returns the load of a loop. It panics if loop is nil.
func NewLoad(loop *cocoon.Loop) *Load {
	if loop == nil {
		panic("cocoongrpc: NewLoad: the loop is nil; want rt.Loop(), or what NewLoop returned")
	}
	l := &Load{loop: loop, start: time.Now()}
	l.due.Store(lookEvery)
	return l
}

// arrived counts a call, and reports whether its response should have a report.
func (l *Load) arrived() (report bool) {
	l.calls.Add(1)
	return l.tells(l.look())
}

// tells reports whether the response to a call that arrives now should have a report. The gap until
// the next report is random, so that no client goes without reports because another client always
// calls just before it.
func (l *Load) tells(now int64) bool {
	from := l.tell.Load()
	return now >= from && l.tell.CompareAndSwap(from, now+rand.Int64N(reportGap))
}

// failed counts a call that was thrown into if it had started, or refused if not.
func (l *Load) failed(started bool) {
	if started {
		l.thrown.Add(1)
	} else {
		l.refused.Add(1)
	}
}

// look updates the averages, if they are due, and returns the time. If several goroutines call
// look, one of them does the update.
func (l *Load) look() (now int64) {
	now, due := int64(time.Since(l.start)), l.due.Load()
	if now < due || !l.due.CompareAndSwap(due, now+lookEvery) {
		return now
	}
	st := l.loop.Stats()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now <= l.at {
		return now // a later call was faster
	}
	span := float64(now - l.at)
	weight := 1 - math.Exp(-span/loadWindow)
	average := func(of *float64, is float64) { *of += (is - *of) * weight }
	rate := func(of, seen *float64, count *atomic.Int64) {
		n := float64(count.Load())
		average(of, (n-*seen)/span*float64(time.Second))
		*seen = n
	}
	rate(&l.rates.calls, &l.seen.calls, &l.calls)
	rate(&l.rates.refused, &l.seen.refused, &l.refused)
	rate(&l.rates.thrown, &l.seen.thrown, &l.thrown)
	average(&l.utilization, inUse(st))
	average(&l.queue, float64(st.Queued))
	l.at, l.slots = now, float64(st.Slots)
	return now
}

// inUse returns the share of slot time in use. In a saturated process tasks run without slots, and
// a balancer would take the server for an idle one, so there it counts as 1.
func inUse(st cocoon.LoopStats) float64 {
	if st.Saturated {
		return 1
	}
	return st.Utilization
}

// ServerMetrics implements orca.ServerMetricsProvider. Each call returns maps of its own, because
// package orca adds the handler's metrics to them.
func (l *Load) ServerMetrics() *orca.ServerMetrics {
	l.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	application := l.utilization
	if l.slots > 0 { // there are statistics
		application += l.queue / l.slots
	}
	return &orca.ServerMetrics{
		CPUUtilization: -1,
		MemUtilization: -1,
		AppUtilization: max(leastUtilization, application),
		QPS:            l.rates.calls,
		EPS:            l.rates.refused + l.rates.thrown,
		Utilization:    map[string]float64{"slots": l.utilization},
		RequestCost:    map[string]float64{},
		NamedMetrics:   map[string]float64{"queue": l.queue, "refused": l.rates.refused},
	}
}
