package cocoon

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/internal/longtest"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// job is a task of a simulated load. Its declared cost is its real cost.
type job struct {
	sched.Task
	id            int
	at, cost, due int64
	priority      int64
	tenant        int
	start         int64 // its tag as in the textbook
}

// textbooks say which of the waiting jobs is next, as in the textbook.
var textbooks = map[string]struct {
	spec   policy.Spec
	before func(a, b *job) int
}{
	"fifo":     {policy.FirstInFirstOut(), func(a, b *job) int { return 0 }},
	"priority": {policy.StrictPriority(), func(a, b *job) int { return cmp.Compare(b.priority, a.priority) }},
	"deadline": {policy.EarliestDeadline(), func(a, b *job) int { return cmp.Compare(a.due, b.due) }},
	"shortest": {policy.ShortestRemaining(), func(a, b *job) int { return cmp.Compare(a.cost, b.cost) }},
	"fair":     {policy.FairShare(), func(a, b *job) int { return cmp.Compare(a.start, b.start) }},
}

// TestTextbookOrders checks that the core, with the ranks of a ready-made policy, starts jobs in
// the order of the textbook. The test computes that order from the definition.
func TestTextbookOrders(t *testing.T) {
	for name, book := range textbooks {
		t.Run(name, func(t *testing.T) {
			program, err := book.spec.Parse(nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			for seed := range uint64(20) {
				jobs := someJobs(rand.New(rand.NewPCG(seed, 0)))
				got := started(t, program, jobs)
				if want := byTheBook(jobs, book.before); !slices.Equal(got, want) {
					t.Fatalf("seed %d: started in the order\n%v, want\n%v", seed, got, want)
				}
			}
		})
	}
}

var jobShares = []int64{1, 2, 5}

func someJobs(rnd *rand.Rand) (jobs []*job) {
	now := int64(0)
	for id := range 150 {
		now += rnd.Int64N(900)
		cost := 100 * (1 + rnd.Int64N(9))
		jobs = append(jobs, &job{id: id, at: now, cost: cost, due: now + rnd.Int64N(5000), priority: rnd.Int64N(4) - 1, tenant: rnd.IntN(len(jobShares))})
	}
	return jobs
}

// started runs the jobs in one slot and returns the order in which they start.
func started(t *testing.T, program *ir.Program, jobs []*job) (order []int) {
	t.Helper()
	c := sched.NewCore(sched.Config{Slots: 1})
	groups := make([]sched.Group, len(jobShares))
	for i, w := range jobShares {
		groups[i].Weight = w
	}
	free := int64(0) // when the job in the slot ends
	begin := func(j *job, now int64) {
		order = append(order, j.id)
		free = now + j.cost
	}
	end := func() {
		c.Exit(c.Current(0), free)
		for _, x := range c.Granted() {
			begin(x.Owner.(*job), free)
		}
	}
	for _, j := range jobs {
		for c.Current(0) != nil && free <= j.at {
			end()
		}
		j.Reset(sched.Atomic)
		j.Owner, j.Group, j.Cost = j, &groups[j.tenant], j.cost
		granted, _ := c.Arrive(&j.Task, j.at)
		c.SetRank(&j.Task, rankOf(t, program, j))
		if granted {
			begin(j, j.at)
		}
	}
	for c.Current(0) != nil {
		end()
	}
	return order
}

// rankOf evaluates the policy for an arriving job.
func rankOf(t *testing.T, program *ir.Program, j *job) int64 {
	t.Helper()
	snapshot := make([]uint64, program.Words)
	for _, r := range program.Reads {
		snapshot[r.Offset] = uint64(map[stubs.ID]int64{
			stubs.ArrivingPriority: j.priority, stubs.ArrivingDeadline: j.due - j.at, stubs.RuntimeUptime: j.at,
			stubs.ArrivingCost: j.cost, stubs.ArrivingRunning: 0, stubs.ArrivingVirtualTime: j.Tag(),
		}[r.Stub])
	}
	out, _, err := ir.Interpret(program, snapshot)
	if err != nil || out.Fired != 1 || out.Decision != stubs.Continue {
		t.Fatalf("%+v, %v", out, err)
	}
	return int64(out.Values[0])
}

// byTheBook returns the order in which a server that knows all jobs runs them: whenever it is free,
// it starts the first waiting job, with ties in order of arrival. Tags are the tags of start-time
// fair queueing, with the start tag in service as virtual time.
func byTheBook(jobs []*job, before func(a, b *job) int) (order []int) {
	finish := make([]int64, len(jobShares))
	now, virtual := int64(0), int64(0)
	var wait []*job
	for next := 0; next < len(jobs) || len(wait) > 0; {
		if len(wait) == 0 {
			now = max(now, jobs[next].at)
		}
		admit := func(until int64) {
			for ; next < len(jobs) && jobs[next].at <= until; next++ {
				j := jobs[next]
				j.start = max(virtual, finish[j.tenant])
				finish[j.tenant] = j.start + j.cost/jobShares[j.tenant]
				wait = append(wait, j)
			}
		}
		if len(wait) == 0 {
			admit(jobs[next].at)
		}
		first := slices.MinFunc(wait, func(a, b *job) int { return cmp.Or(before(a, b), cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
		wait = slices.DeleteFunc(wait, func(j *job) bool { return j == first })
		order = append(order, first.id)
		virtual = max(virtual, first.start)
		now += first.cost
		admit(now - 1) // a job that arrives exactly at the end finds the slot taken
	}
	return order
}

// The same orders in the real runtime.
func TestReadyMadeOrders(t *testing.T) {
	long := func(s string) map[string]string { return map[string]string{"tenant": s} }
	arrivals := []arrival{
		{name: "a", deadline: 3 * time.Hour, labels: long("x")}, {name: "b", priority: 9, deadline: 2 * time.Hour, labels: long("x")},
		{name: "c", cost: time.Second, labels: long("x")}, {name: "d", priority: 9, deadline: time.Hour, cost: time.Minute, labels: long("y")},
		{name: "e", priority: -1, deadline: 4 * time.Hour, cost: time.Hour, labels: long("y")},
		{name: "f", priority: -2, deadline: math.MaxInt64, cost: math.MaxInt64, labels: long("y")},
	}
	for want, spec := range map[string]policy.Spec{
		"abcdef": policy.FirstInFirstOut(), "bdacef": policy.StrictPriority(), "dbaecf": policy.EarliestDeadline(),
		"abcdef ": policy.ShortestRemaining(), "adbcef": policy.FairShare(),
	} {
		rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: -1})
		must(t, rt.RegisterTenants(Tenants{Label: "tenant"}))
		register(t, rt, spec)
		order := startOrder(t, rt, arrivals)
		if got := strings.Join(order, ""); got != strings.TrimSpace(want) {
			t.Errorf("%s: started in the order %v; want %s", spec.Expr, got, want)
		}
	}
}

// The cost of a name is learned from its tasks. A declared cost takes precedence, for the task but
// not for its children.
func TestCostIsDeclaredOrLearned(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterState(map[string]any{"cost": time.Duration(0)}))
	register(t, rt, Policy{Name: "see", On: OnEnqueue, Expr: `set("cost", arriving.cost)`})
	cost := func() time.Duration { return rt.State("cost").(time.Duration) }
	work := func(ctx context.Context) error {
		time.Sleep(2 * time.Millisecond)
		return nil
	}
	must(t, rt.Run(background, "job", work))
	if cost() != 0 {
		t.Errorf("the first costs %v", cost())
	}
	must(t, rt.Run(background, "job", work))
	if cost() < 2*time.Millisecond || cost() > 10*time.Second {
		t.Errorf("the second costs %v", cost())
	}
	must(t, rt.Run(WithCost(background, time.Hour), "job", func(ctx context.Context) error {
		if cost() != time.Hour {
			t.Errorf("declared, it costs %v", cost())
		}
		must(t, rt.Run(ctx, "child", idle))
		if cost() != 0 {
			t.Errorf("a child costs %v", cost())
		}
		must(t, rt.Run(WithCost(ctx, time.Minute), "child", idle))
		if cost() != time.Minute {
			t.Errorf("a child that declares costs %v", cost())
		}
		return nil
	}))
	for declared, want := range map[time.Duration]time.Duration{math.MinInt64: 0, math.MaxInt64: greatest} {
		if must(t, rt.Run(WithCost(background, declared), declared.String(), idle)); cost() != want {
			t.Errorf("a cost of %d is %d; want %d", declared, cost(), want)
		}
	}
}

// Under saturation tenants get their shares in the long run. The load goes on until they have them,
// because other processes use this machine, too. In order of arrival the ratio would stay at a
// sixth. The core's own test is exact.
func TestFairShareUnderLoad(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant", Shares: map[string]int{"gold": 3}}))
	register(t, rt, policy.FairShare())
	ctx, cancel := context.WithCancel(background)
	defer cancel()
	var crowd sync.WaitGroup
	for i := range 24 {
		name, work := "gold", time.Millisecond
		if i%4 != 0 { // three times as many tasks, each of them longer
			name, work = "free", 2*time.Millisecond
		}
		crowd.Go(func() {
			for ctx.Err() == nil {
				rt.Run(WithLabel(ctx, "tenant", name), name, func(context.Context) error {
					for end := time.Now().Add(work); time.Now().Before(end); {
					}
					return nil
				})
			}
		})
	}
	atLeast := time.Duration(longtest.Count(1000, 80)) * time.Millisecond
	begin := time.Now()
	eventually(t, "gold to have about three times the slot time of free", func() bool {
		st := rt.Loop().Stats().Tenants
		ratio := float64(st["gold"].Running) / float64(st["free"].Running)
		return time.Since(begin) > atLeast && len(st) == 2 && ratio >= 2 && ratio <= 4
	})
	cancel()
	within(t, "the load", crowd.Wait)
}
