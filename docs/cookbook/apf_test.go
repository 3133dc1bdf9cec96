package cookbook

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// priorityLevel is a level of API Priority and Fairness: seats, queues, a hand of two of them for
// each flow, a bound on the length of a queue, and fair queuing among the queues of the level.
type priorityLevel struct {
	name    string
	queues  [8]flowQueue
	virtual time.Duration
	full    int // requests that found their queues full
}

type flowQueue struct {
	wait   []*seated
	finish time.Duration // of the last request that it was given, in virtual time
}

// seated is a request, and where it waits.
type seated struct {
	*request
	id    string
	queue int
	begin time.Duration // in virtual time
}

// deal deals a flow two queues, without replacement, as one deals cards.
func deal(flow string) (first, second int) {
	h := fnv.New32a()
	h.Write([]byte(flow))
	sum := int(h.Sum32() >> 8)
	first, second = sum%8, sum/8%7
	if second >= first {
		second++
	}
	return first, second
}

// enqueue puts a request into the shorter queue of its hand, or reports that it is full.
func (l *priorityLevel) enqueue(r *seated) bool {
	first, second := deal(r.tenant)
	if r.queue = first; len(l.queues[second].wait) < len(l.queues[first].wait) {
		r.queue = second
	}
	q := &l.queues[r.queue]
	if len(q.wait) >= 50 {
		l.full++
		return false
	}
	r.begin = max(l.virtual, q.finish)
	q.finish = r.begin + r.cost
	q.wait = append(q.wait, r)
	return true
}

// dequeue takes the request that begins first in virtual time, of equal ones that which came first.
func (l *priorityLevel) dequeue() *seated {
	var from *flowQueue
	for i := range l.queues {
		q := &l.queues[i]
		if len(q.wait) == 0 {
			continue
		}
		if from == nil || q.wait[0].begin < from.wait[0].begin ||
			q.wait[0].begin == from.wait[0].begin && q.wait[0].arrived < from.wait[0].arrived {
			from = q
		}
	}
	r := from.wait[0]
	from.wait = from.wait[1:]
	l.virtual = max(l.virtual, r.begin)
	return r
}

func TestAPFReference(t *testing.T) {
	for seed := range uint64(longtest.Count(3, 1)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			s, full := script{}, 0
			for i, name := range []string{"workload-high", "workload-low"} {
				full += runLevel(rand.New(rand.NewPCG(seed, uint64(i))), &priorityLevel{name: name}, &s)
			}
			if s.run(t, "flow-control.yaml"); full < 5 {
				t.Errorf("%d of %d requests found their queue full", full, len(s.events))
			}
		})
	}
}

// runLevel lets one flow flood a level, and others use it.
func runLevel(rnd *rand.Rand, l *priorityLevel, s *script) (full int) {
	server, waiting, ids := &station{slots: 4}, map[*request]*seated{}, 0
	labels := func(r *seated) string {
		first, second := deal(r.tenant)
		return fmt.Sprintf("{hand1: %s/%d, hand2: %s/%d, id: %s}", l.name, first, l.name, second, r.id)
	}
	server.admit = func(r *request) bool {
		ids++
		one := &seated{request: r, id: fmt.Sprint(l.name, ids)}
		waiting[r] = one
		ok := l.enqueue(one)
		given := fmt.Sprintf("loop.name: %s, queue.length: %d, arriving.cost: %v, arriving.labels: %s", l.name, len(server.wait), r.cost, labels(one))
		want := verdict(true, "the queue is full")
		if ok {
			want = fmt.Sprintf("{verdict: continue(), states: {tag: {%s: %v}, waiting: {%s/%d: %d}}}", one.id, one.begin, l.name, one.queue, len(l.queues[one.queue].wait))
		}
		s.tell(server.now, "enqueue", given, want)
		return ok
	}
	server.next = func() *request {
		r := l.dequeue()
		server.take(r.request)
		given := fmt.Sprintf("loop.name: %s, task.labels: %s", l.name, labels(r))
		s.tell(server.now, "start", given, fmt.Sprintf("{states: {waiting: {%s/%d: %d}, virtual: {%s: %v}}}", l.name, r.queue, len(l.queues[r.queue].wait), l.name, l.virtual))
		return r.request
	}
	requests := load(rnd, 700, 4, 20*time.Millisecond, 0.8, 4, 1)
	for _, r := range requests {
		if r.tenant = "elephant"; rnd.IntN(3) == 0 {
			r.tenant = fmt.Sprint("mouse", rnd.IntN(10))
		}
	}
	server.work(requests)
	return l.full
}
