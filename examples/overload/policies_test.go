package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/tasktest"
)

// Tasks of the classes, with the names in the document and the middleware.
const (
	taskCritical = "GET /critical"
	taskNormal   = "GET /normal"
	taskBatch    = "GET /batch"
)

// startPolicies returns a runtime with one slot and the policies of policies.yaml.
func startPolicies(t *testing.T) *cocoon.Runtime {
	t.Helper()
	rt := tasktest.Start(t, cocoon.Config{Slots: 1, StallAfter: -1, MaxBypass: -1})
	tasktest.Must(t, rt.LoadPolicies(strings.NewReader(policies)))
	return rt
}

// begin starts a task that holds its slot and reaches safe points, until it is thrown into or the
// channel is closed.
func begin(t *testing.T, rt *cocoon.Runtime, ctx context.Context, name string, until <-chan struct{}) *cocoon.Handle {
	t.Helper()
	running := make(chan struct{})
	h := rt.Go(ctx, name, func(ctx context.Context) error {
		close(running)
		for {
			select {
			case <-until:
				return nil
			default:
				cocoon.SafePoint(ctx)
			}
		}
	})
	tasktest.Receive(t, name+" to start", running)
	return h
}

func of(tenant string) context.Context {
	return cocoon.WithLabel(context.Background(), "tenant", tenant)
}

// reasonOf returns the reason why a task was refused or thrown into, "" if it was not.
func reasonOf(err error) string {
	var p *cocoon.PreemptedError
	if errors.As(err, &p) {
		return p.Reason
	}
	return ""
}

// crowdOf is a number of waiting tasks with a name and a tenant.
type crowdOf struct {
	n            int
	name, tenant string
}

// TestAdmission checks that a task that arrives while many wait is refused before it starts, by its
// priority and its tenant.
func TestAdmission(t *testing.T) {
	const (
		noBatch      = "overloaded: batch has to wait"
		noMoreFree   = "overloaded: the free tenant has its share"
		criticalOnly = "overloaded: critical requests only"
	)
	for _, c := range []struct {
		waiting      []crowdOf
		name, tenant string
		want         string
	}{
		{[]crowdOf{{3, taskNormal, free}}, taskBatch, paying, ""},
		{[]crowdOf{{4, taskNormal, free}}, taskBatch, paying, noBatch},
		{[]crowdOf{{4, taskNormal, free}}, taskNormal, free, ""},
		{[]crowdOf{{11, taskNormal, free}}, taskNormal, free, ""},
		{[]crowdOf{{12, taskNormal, free}}, taskNormal, free, noMoreFree},
		{[]crowdOf{{12, taskNormal, free}}, taskNormal, paying, ""},
		{[]crowdOf{{12, taskNormal, free}}, taskCritical, free, ""},
		// Less than a quarter of them are the tenant's own.
		{[]crowdOf{{11, taskNormal, paying}, {2, taskNormal, free}}, taskNormal, free, ""},
		{[]crowdOf{{24, taskNormal, paying}}, taskNormal, paying, criticalOnly},
		{[]crowdOf{{23, taskNormal, paying}}, taskNormal, paying, ""},
		{[]crowdOf{{24, taskNormal, paying}}, taskCritical, paying, ""},
	} {
		rt := startPolicies(t)
		until := make(chan struct{})
		holder := begin(t, rt, context.Background(), "holder", until)
		var all []*cocoon.Handle
		for _, w := range c.waiting {
			for range w.n {
				all = append(all, rt.Go(of(w.tenant), w.name, func(context.Context) error { return nil }))
				tasktest.Eventually(t, "the crowd to wait", func() bool { return rt.Loop().Stats().Queued == len(all) })
			}
		}
		started := false
		h := rt.Go(of(c.tenant), c.name, func(context.Context) error { started = true; return nil })
		if c.want == "" {
			tasktest.Eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == len(all)+1 })
		} else {
			<-h.Done()
		}
		close(until)
		err := h.Wait(context.Background())
		if reasonOf(err) != c.want || started != (c.want == "") {
			t.Errorf("%v, then %s of %s: %v, started: %t; want %q", c.waiting, c.name, c.tenant, err, started, c.want)
		}
		for _, h := range append(all, holder) {
			if err := h.Wait(context.Background()); err != nil {
				t.Errorf("%v: %v", c.waiting, err)
			}
		}
	}
}

// TestLeastValuable checks which running tasks are stopped: late tasks, tasks without a client, and
// a batch task while many wait. Critical tasks go on.
func TestLeastValuable(t *testing.T) {
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	for _, c := range []struct {
		name    string
		late    bool            // its deadline passes while it runs
		ends    context.Context // the context that ends it
		waiting int
		want    string
	}{
		{taskNormal, false, context.Background(), 4, ""},
		{taskNormal, true, context.Background(), 0, "too late"},
		{taskBatch, true, context.Background(), 0, "too late"},
		{taskCritical, true, context.Background(), 0, ""},
		{taskNormal, false, gone, 0, "too late"},
		{taskBatch, false, gone, 0, "too late"},
		{taskCritical, false, gone, 0, ""},
		{taskBatch, false, context.Background(), 4, ""},
		{taskBatch, false, context.Background(), 5, "overloaded: the least valuable"},
		{taskNormal, false, context.Background(), 5, ""},
	} {
		rt := startPolicies(t)
		ticks, err := rt.RegisterPolicy(cocoon.Policy{Name: "ticks", On: cocoon.Every(time.Millisecond),
			Expr: `queue.length > 1000 ? throw("in vain") : continue()`})
		if err != nil {
			t.Fatal(err)
		}
		until := make(chan struct{})
		end := time.Now().Add(time.Hour)
		if c.late {
			end = time.Now().Add(500 * time.Millisecond) // it begins before, and runs beyond it
		}
		ctx, goAway := context.WithCancel(byDeadline(end))
		h := begin(t, rt, ctx, c.name, until)
		if c.ends.Err() != nil {
			goAway()
		}
		var all []*cocoon.Handle
		// With a different priority than the document's, so that no task gives way to them.
		for range c.waiting {
			all = append(all, rt.Go(cocoon.WithPriority(context.Background(), -1), "other", func(context.Context) error { return nil }))
		}
		if c.want == "" {
			tasktest.Eventually(t, "the crowd to wait", func() bool { return rt.Loop().Stats().Queued == len(all) })
			if c.late {
				time.Sleep(time.Until(end))
			}
			n := ticks.Stats().Evaluations
			tasktest.Eventually(t, "ticks", func() bool { return ticks.Stats().Evaluations > n+3 })
			close(until)
		}
		if err := h.Wait(context.Background()); reasonOf(err) != c.want {
			t.Errorf("%s with %d waiting: %v; want %q", c.name, c.waiting, err, c.want)
		}
		goAway()
		for _, h := range all {
			if err := h.Wait(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestNoTimeLeft checks that a task that could not meet its deadline does not start, unless it is
// critical.
func TestNoTimeLeft(t *testing.T) {
	for _, c := range []struct {
		name string
		left time.Duration
		want string
	}{
		{taskNormal, time.Hour, ""},
		{taskNormal, 0, "too late to begin"},
		{taskNormal, 4 * time.Millisecond, "too late to begin"},
		{taskBatch, 0, "too late to begin"},
		{taskCritical, 0, ""},
		{"other", 0, ""},
	} {
		rt := startPolicies(t)
		err := rt.Run(byDeadline(time.Now().Add(c.left)), c.name, func(context.Context) error { return nil })
		if reasonOf(err) != c.want {
			t.Errorf("%s with %v left: %v; want %q", c.name, c.left, err, c.want)
		}
	}
}

// timed is a context with a deadline that does not end at the deadline.
type timed struct {
	context.Context
	at time.Time
}

func byDeadline(at time.Time) context.Context { return timed{context.Background(), at} }

func (c timed) Deadline() (time.Time, bool) { return c.at, true }

// TestUrgency checks that a more urgent task preempts the running one, and that the most urgent
// waiting task starts first, or among equally urgent tasks the one with the earliest deadline.
func TestUrgency(t *testing.T) {
	rt := startPolicies(t)
	until := make(chan struct{})
	batch := begin(t, rt, context.Background(), taskBatch, until)
	// In the slot of the task that runs.
	if err := rt.Run(context.Background(), taskCritical, func(context.Context) error { return nil }); err != nil {
		t.Error(err)
	}
	close(until)
	if err := batch.Wait(context.Background()); err != nil || batch.Account().Preemptions != 1 {
		t.Errorf("batch: %v, %+v", err, batch.Account())
	}

	until = make(chan struct{})
	holder := begin(t, rt, context.Background(), "holder", until)
	var mu sync.Mutex
	var order []string
	all := []*cocoon.Handle{holder}
	now := time.Now()
	for i, w := range []struct {
		name string
		in   time.Duration
		id   string
	}{{taskNormal, 20 * time.Minute, "n20"}, {taskNormal, 10 * time.Minute, "n10"}, {taskCritical, 30 * time.Minute, "c30"}, {taskCritical, 5 * time.Minute, "c5"}} {
		all = append(all, rt.Go(byDeadline(now.Add(w.in)), w.name, func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, w.id)
			return nil
		}))
		tasktest.Eventually(t, "it to wait", func() bool { return rt.Loop().Stats().Queued == i+1 })
	}
	close(until)
	for _, h := range all {
		if err := h.Wait(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if want := []string{"c5", "c30", "n10", "n20"}; !slices.Equal(order, want) {
		t.Errorf("started in the order %q; want %q", order, want)
	}
}
