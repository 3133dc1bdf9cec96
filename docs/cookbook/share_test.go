package cookbook

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/longtest"
)

// fairQueue is start-time fair queueing (Goyal, Vin, Cheng 1996) for one server. The paper's
// packets have a length; a task has an expected cost, and when it ends its tenant pays the
// difference. The paper also moves the virtual time when the server falls idle; this one never
// does.
type fairQueue struct {
	virtual time.Duration
	finish  map[string]time.Duration
	shares  map[string]time.Duration
	wait    []*fairTask
}

type fairTask struct {
	id     int
	tenant string
	cost   time.Duration
	start  time.Duration // its tag
}

func (q *fairQueue) share(tenant string) time.Duration { return max(1, q.shares[tenant]) }

func (q *fairQueue) arrive(f *fairTask) {
	f.start = max(q.virtual, q.finish[f.tenant])
	q.finish[f.tenant] = f.start + f.cost/q.share(f.tenant)
	q.wait = append(q.wait, f)
}

func (q *fairQueue) next() *fairTask {
	first := slices.MinFunc(q.wait, func(a, b *fairTask) int { return cmp.Or(cmp.Compare(a.start, b.start), a.id-b.id) })
	q.wait = slices.DeleteFunc(q.wait, func(f *fairTask) bool { return f == first })
	q.virtual = first.start
	return first
}

func (q *fairQueue) end(f *fairTask, took time.Duration) {
	q.finish[f.tenant] += (took - f.cost) / q.share(f.tenant)
}

// TestFairShareReference lets tasks arrive and end in a random order, at a loop of a real runtime
// and at the reference. Both must start the same task each time.
func TestFairShareReference(t *testing.T) {
	for seed := range uint64(longtest.Count(10, 4)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { fairShare(t, rand.New(rand.NewPCG(seed, 0))) })
	}
}

func fairShare(t *testing.T, rnd *rand.Rand) {
	rt, err := cocoon.New(cocoon.Config{MaxBypass: -1, StallAfter: -1, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	defer rt.Shutdown(t.Context())
	if err := rt.LoadPolicyFile("fair-share.yaml"); err != nil {
		t.Fatal(err)
	}
	loop, err := rt.NewLoop(cocoon.LoopConfig{Name: "one", Exclusive: true}) // its tasks wait in their slot
	if err != nil {
		t.Fatal(err)
	}
	queue := &fairQueue{finish: map[string]time.Duration{}, shares: map[string]time.Duration{"gold": 3, "silver": 2}}
	started, over := make(chan int, 100), make(chan struct{})
	defer close(over)
	var handles []*cocoon.Handle
	var gates []chan struct{}
	arrive := func() {
		tenants := []string{"gold", "silver", "free", "trial"}
		f := &fairTask{id: len(handles), tenant: tenants[rnd.IntN(4)], cost: time.Duration(rnd.Int64N(int64(3 * time.Millisecond)))}
		gate := make(chan struct{})
		gates = append(gates, gate)
		ctx := cocoon.WithCost(cocoon.WithLabel(context.Background(), "tenant", f.tenant), f.cost)
		handles = append(handles, loop.Go(ctx, "task", func(context.Context) error {
			started <- f.id
			select {
			case <-gate:
			case <-over:
			}
			return nil
		}))
		queue.arrive(f)
	}
	arrive()
	runs := queue.next()
	<-started
	for range 200 {
		if len(handles) < 100 && (len(queue.wait) == 0 || rnd.IntN(5) < 3) {
			arrive()
			for loop.Stats().Queued < len(queue.wait) {
				time.Sleep(10 * time.Microsecond)
			}
			continue
		}
		if len(queue.wait) == 0 {
			break
		}
		close(gates[runs.id])
		got := <-started
		if err := handles[runs.id].Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		queue.end(runs, handles[runs.id].Account().Running)
		if runs = queue.next(); got != runs.id {
			t.Fatalf("task %d starts; want %d, of %s", got, runs.id, runs.tenant)
		}
	}
}
