package cocoon

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/policy"
)

// Shortest remaining first uses the declared cost or, without one, the cost of earlier tasks of the
// name. Equal tasks start in order of arrival.
func TestShortestFirst(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: -1})
	register(t, rt, policy.ShortestRemaining())
	for name, work := range map[string]time.Duration{"long": 50 * time.Millisecond, "short": time.Millisecond} {
		must(t, rt.Run(background, name, func(ctx context.Context) error { return workFor(ctx, work) }))
	}
	got := startOrder(t, rt, []arrival{
		{name: "3h", cost: 3 * time.Hour}, {name: "1h", cost: time.Hour}, {name: "2h", cost: 2 * time.Hour}, {name: "1h again", cost: time.Hour},
		{name: "long"}, {name: "40ms", cost: 40 * time.Millisecond}, {name: "short"}, {name: "never seen"},
		{name: "short", cost: 4 * time.Hour}, // the declared cost takes precedence over earlier tasks
	})
	want := []string{"never seen", "short", "40ms", "long", "1h", "1h again", "2h", "3h", "short"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("started in the order %q; want %q", got, want)
	}
}

// workFor runs for d in its slot. The process uses as much processor time meanwhile: a task that
// gives up its slot learns that it stood still, which is no running time.
func workFor(ctx context.Context, d time.Duration) error {
	before := kernel.ProcessCPU()
	for TaskOf(ctx).Account().Running < d || kernel.ExactCPU && kernel.ProcessCPU()-before < int64(d) {
		SafePoint(ctx)
	}
	return nil
}

// The cost of a name follows about its last ten tasks.
func TestCostFollows(t *testing.T) {
	var c class
	c.ran(800)
	if c.ran(1600); c.expected() != 900 {
		t.Errorf("after 800 and 1600 it is %d", c.expected())
	}
	for range 20 {
		c.ran(1600)
	}
	if c.expected() < 1500 || c.expected() > 1600 {
		t.Errorf("after 1600 for long it is %d", c.expected())
	}
}

// A task that comes back from a block has less left to run than at first.
func TestShortestRemainsShortest(t *testing.T) {
	const cost = time.Minute
	rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: -1})
	register(t, rt, policy.ShortestRemaining())
	blocked, gate := make(chan struct{}), make(chan struct{})
	var order notes
	begun := rt.Go(WithCost(background, cost), "begun", func(ctx context.Context) error {
		must(t, workFor(ctx, 20*time.Millisecond))
		err := Block(ctx, func() error { close(blocked); <-gate; return nil })
		order.add("begun")
		return err
	})
	receive(t, "the block", blocked)
	release := taken(t, rt.Loop())
	handles := []*Handle{begun}
	for i, less := range []time.Duration{0, 10 * time.Millisecond, cost - 1} {
		name := fmt.Sprint(cost - less)
		handles = append(handles, rt.Go(WithCost(background, cost-less), name, func(context.Context) error { order.add(name); return nil }))
		eventually(t, "the others to wait", func() bool { return rt.Loop().Stats().Queued == i+1 })
	}
	close(gate)
	eventually(t, "all to wait", func() bool { return rt.Loop().Stats().Queued == 4 })
	release()
	for _, h := range handles {
		must(t, h.Wait(background))
	}
	if want := []string{"1ns", "begun", "59.99s", "1m0s"}; !slices.Equal(order.names, want) {
		t.Errorf("in the order %q; want %q", order.names, want)
	}
}
