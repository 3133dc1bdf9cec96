package cocoon

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
)

// arrival is a task that arrives while the only slot is taken.
type arrival struct {
	name     string
	priority int32
	deadline time.Duration
	labels   map[string]string
	cost     time.Duration
}

// startOrder lets the tasks arrive one after the other at a loop whose only slot is taken, and
// returns their names in the order in which they started. The loop is not the default loop, which
// lends the slot of a task that waits, for the garbage collector too: then a task that starts later
// may note its name first.
func startOrder(t *testing.T, rt *Runtime, arrivals []arrival) []string {
	t.Helper()
	l, err := rt.NewLoop(LoopConfig{Name: "one slot", Slots: 1})
	must(t, err)
	release := taken(t, l)
	var mu sync.Mutex
	var order []string
	var handles []*Handle
	for i, a := range arrivals {
		ctx := WithPriority(background, a.priority)
		if a.deadline != 0 {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, a.deadline)
			defer cancel()
		}
		if a.cost != 0 {
			ctx = WithCost(ctx, a.cost)
		}
		for k, v := range a.labels {
			ctx = WithLabel(ctx, k, v)
		}
		handles = append(handles, l.Go(ctx, a.name, func(context.Context) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, a.name)
			return nil
		}))
		eventually(t, "a task that waits", func() bool { return l.Stats().Queued == i+1 })
	}
	release()
	for _, h := range handles {
		must(t, h.Wait(background))
	}
	return order
}

func TestRankOrdersTheQueue(t *testing.T) {
	arrivals := []arrival{
		{name: "a", priority: 1, deadline: 3 * time.Hour}, {name: "b", priority: 7, deadline: 2 * time.Hour},
		{name: "c"}, {name: "d", priority: 7, deadline: time.Hour}, {name: "e", priority: -1, deadline: 4 * time.Hour},
	}
	for expr, want := range map[string]string{
		`queue.length > 9 ? switch() : continue()`: "abcde",
		`rank(7)`:                                                           "abcde",
		`rank(-arriving.priority)`:                                          "bdace",
		`rank(arriving.deadline)`:                                           "dbaec",
		`rank(-queue.length)`:                                               "edcba",
		`arriving.name == "d" ? rank(-1) : continue()`:                      "dabce",
		`rank(task.priority + arriving.priority)`:                           "ecabd",
		`rank(1); arriving.name in ["a", "b"] ? rank(2) : continue()`:       "cdeab",
		`rank(arriving.priority * 9223372036854775807)`:                     "ebcda", // it overflows for b and d: they keep 0, like c
		`rank(arriving.priority < 0 ? -9223372036854775807 : queue.length)`: "eabcd",
	} {
		rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: -1})
		register(t, rt, Policy{Name: "order", On: OnEnqueue, Expr: expr})
		if got := fmt.Sprint(startOrder(t, rt, arrivals)); got != fmt.Sprint(strings.Split(want, "")) {
			t.Errorf("%s: started in the order %v; want %s", expr, got, want)
		}
	}
}

// An observing policy ranks no task, and counts that it would have.
func TestRankObserved(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	r := register(t, rt, Policy{Name: "order", On: OnEnqueue, Mode: Observe, Expr: `rank(-queue.length)`})
	if got := fmt.Sprint(startOrder(t, rt, []arrival{{name: "a"}, {name: "b"}})); got != "[a b]" {
		t.Error(got)
	}
	if st := r.Stats(); st.WouldEffect != 3 || st.Effects != 0 {
		t.Errorf("%+v", st)
	}
}

// A task that comes back from a block waits with the rank that the policy gives it then.
func TestRankOfATaskThatComesBack(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1})
	must(t, rt.RegisterState(map[string]any{"place": 5}))
	register(t, rt, Policy{Name: "order", On: OnEnqueue, Expr: `arriving.name == "back" ? rank(state.place) : rank(3)`})
	update := register(t, rt, Policy{Name: "now", On: OnNotify("now"), Expr: `set("place", 1)`})
	blocked, gate := make(chan struct{}), make(chan struct{})
	var order notes
	back := rt.Go(background, "back", func(ctx context.Context) error {
		err := Block(ctx, func() error { close(blocked); <-gate; return nil })
		order.add("back")
		return err
	})
	receive(t, "the block", blocked)
	release := taken(t, rt.Loop())
	other := rt.Go(background, "other", func(context.Context) error { order.add("other"); return nil })
	eventually(t, "the other waits", func() bool { return rt.Loop().Stats().Queued == 1 })
	rt.Notify("now", 0)
	close(gate)
	eventually(t, "both wait", func() bool { return rt.Loop().Stats().Queued == 2 })
	release()
	must(t, back.Wait(background))
	must(t, other.Wait(background))
	if fmt.Sprint(order.names) != "[back other]" || update.Stats().Effects != 1 {
		t.Errorf("%v, %+v", order.names, update.Stats())
	}
}

// Invariant 9: an endless supply of lower ranks does not keep a task waiting indefinitely.
func TestRankStarvesNoTask(t *testing.T) {
	rt := start(t, Config{Slots: 1, StallAfter: -1, MaxBypass: 5 * time.Millisecond})
	register(t, rt, Policy{Name: "order", On: OnEnqueue, Expr: `rank(-arriving.priority)`})
	ctx, cancel := context.WithCancel(background)
	var crowd sync.WaitGroup
	for range 4 {
		crowd.Go(func() {
			for ctx.Err() == nil {
				rt.Run(WithPriority(ctx, 1), "urgent", func(context.Context) error {
					for end := time.Now().Add(200 * time.Microsecond); time.Now().Before(end); {
					}
					return nil
				})
			}
		})
	}
	within(t, "a task among more urgent ones", func() { must(t, rt.Run(background, "victim", idle)) })
	cancel()
	crowd.Wait()
}
