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

// Load is the load of a loop, as ORCA reports tell it to gRPC's and Envoy's balancers. It is an
// orca.ServerMetricsProvider:
//
//	orca.CallMetricsServerOption(load)                                              // with answers
//	orca.Register(srv, orca.ServiceOptions{ServerMetricsProvider: load})            // out of band
//
// and counts the calls of the interceptors that have it in their Options. A report holds:
//
//	application_utilization    the share of slot time in use, and what waits beside: with as many tasks in the queue as there
//	                           are slots it is 2. Never 0, which balancers take for unknown
//	rps_fractional             calls a second
//	eps                        calls a second whose tasks were refused or thrown into
//	utilization["slots"]       the share of slot time in use, 0 to 1
//	named_metrics["queue"]     tasks that wait for a slot
//	named_metrics["refused"]   calls a second whose tasks never started
//
// All are averages over about a second. Balancers of the kind of weighted_round_robin send calls in
// proportion to rps_fractional / (application_utilization + eps/rps_fractional). All methods are
// safe for concurrent use. It has no goroutine: it looks at the loop when calls come and reports
// are made, every 50 ms at most.
//
// A report costs the server some 15 µs of processor time and its client 10, most of it in package
// orca and in decoding. So a busy server does not send one with each answer: about a thousand
// answers a second have one, any of them, and all where calls are 2 ms apart. Balancers look ten
// times a second at most. Out of band reports cost nothing to speak of.
type Load struct {
	loop  *cocoon.Loop
	start time.Time
	due   atomic.Int64 // when to look at the loop again, in ns since start
	tell  atomic.Int64 // from when on an answer has a report again, likewise

	// What has been counted since start.
	calls   atomic.Int64
	refused atomic.Int64
	thrown  atomic.Int64

	// Guarded by mu.
	mu          sync.Mutex
	at          int64  // of the last look, in ns since start
	seen        counts // what had been counted then
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

	// reportGap is how long answers have no report after one that had, at most; half of it on
	// average.
	reportGap = int64(2 * time.Millisecond)

	// leastUtilization is what a loop that has nothing to do reports.
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

// arrived counts a call, and reports whether its answer is to have a report.
func (l *Load) arrived() (report bool) {
	l.calls.Add(1)
	return l.tells(l.look())
}

// tells reports whether the answer to a call that comes now is to have a report. Chance decides for
// how long others have none, so that no client goes without because another calls just before it.
func (l *Load) tells(now int64) bool {
	from := l.tell.Load()
	return now >= from && l.tell.CompareAndSwap(from, now+rand.Int64N(reportGap))
}

// failed counts one that was refused or, if it had started, thrown into.
func (l *Load) failed(started bool) {
	if started {
		l.thrown.Add(1)
	} else {
		l.refused.Add(1)
	}
}

// look brings the averages up to date, if it is time, and returns the time. Of those who come at
// once, one does.
func (l *Load) look() (now int64) {
	now, due := int64(time.Since(l.start)), l.due.Load()
	if now < due || !l.due.CompareAndSwap(due, now+lookEvery) {
		return now
	}
	st := l.loop.Stats()
	l.mu.Lock()
	defer l.mu.Unlock()
	if now <= l.at {
		return now // overtaken by one that came later
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
	average(&l.utilization, st.Utilization)
	average(&l.queue, float64(st.Queued))
	l.at, l.slots = now, float64(st.Slots)
	return now
}

// ServerMetrics implements orca.ServerMetricsProvider. Each call returns maps of its own, because
// package orca adds the handler's metrics to them.
func (l *Load) ServerMetrics() *orca.ServerMetrics {
	l.look()
	l.mu.Lock()
	defer l.mu.Unlock()
	application := l.utilization
	if l.slots > 0 { // looked at
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
