package main

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
)

// tickEvery is the interval of the timed policies.
const tickEvery = 100 * time.Microsecond

// microTick measures how late the evaluations of a time policy are, in a runtime in which
// preemptible tasks that only poll take all slots (as many as there are processors). Its peer is a
// time.Ticker in plain Go with as many spinning goroutines, and as many Ps.
//
// The policy measures itself, so that no tick is lost to an observer that would have to run as
// well. From task.elapsed, the clock at the evaluation, and its due time, it computes how late it
// is, and counts that in one of a row of states. It is next due an interval after its last due
// time, as in the runtime, or an interval after the last evaluation if that time has passed. A
// quantile is the upper bound of its state.
func microTick(ctx context.Context, r *report, e effort) error {
	e.span *= 10 // under load a ticker ticks fifty times a second
	got, err := medians(ctx, e, policyTicks, tickerTicks)
	if err != nil {
		return err
	}
	for i, metric := range []string{"p50", "p99"} {
		c := claim{}
		if metric == "p99" {
			c = upTo(300)
		}
		c.atMost = 0.05
		r.add(result{Name: "tick", Metric: metric, Value: got[0][i], Unit: "µs", Peer: "time.Ticker", PeerValue: got[1][i]}, c)
	}
	return nil
}

// lateBounds are the upper bounds of the counts, each a fifth above the previous one; the last
// count has none.
var lateBounds = func() (bounds []time.Duration) {
	for b := 5 * time.Microsecond; b < 20*time.Millisecond; b += b / 5 {
		bounds = append(bounds, b)
	}
	return bounds
}()

// lateState returns the name of a count's state.
func lateState(i int) string { return fmt.Sprintf("late%d", i) }

// tickPolicy returns a policy that counts how late it is. An evaluation before the due time, the
// first one or one for which the runtime's due time is earlier, makes the policy due an interval
// later.
func tickPolicy() (cocoon.Policy, map[string]any) {
	states := map[string]any{"due": time.Duration(0)}
	var count strings.Builder
	for i := range len(lateBounds) + 1 {
		states[lateState(i)] = 0
		set := fmt.Sprintf("set(%q, state.%s + 1)", lateState(i), lateState(i))
		if i < len(lateBounds) {
			fmt.Fprintf(&count, "late < duration(%q) ? %s : ", lateBounds[i], set)
		} else {
			count.WriteString(set)
		}
	}
	return cocoon.Policy{
		Name: "tick", On: cocoon.Every(tickEvery), Match: cocoon.Match{Tasks: []string{"watched"}},
		Expr: fmt.Sprintf(`let late = task.elapsed - state.due;
			let next = state.due + duration(%q);
			set("due", state.due > duration("0s") and late >= duration("0s") and next > task.elapsed ? next : task.elapsed + duration(%[1]q));
			%s`, tickEvery, &count),
	}, states
}

func policyTicks(ctx context.Context, e effort) (figures, error) {
	return withRuntime(cocoon.Config{}, func(rt *cocoon.Runtime) (figures, error) {
		p, states := tickPolicy()
		if err := rt.RegisterState(states); err != nil {
			return nil, err
		}
		if _, err := rt.RegisterPolicy(p); err != nil {
			return nil, err
		}
		stop, err := spin(ctx, rt, rt.Stats().Loops[0].Slots, "watched")
		if err != nil {
			return nil, err
		}
		for begin := time.Now(); time.Since(begin) < e.span || len(counted(rt)) < 100 && ctx.Err() == nil; {
			time.Sleep(time.Millisecond)
		}
		stop()
		return quantiles(counted(rt))
	})
}

// counted returns how late each tick of the policy was, in µs.
func counted(rt *cocoon.Runtime) (late []float64) {
	for i := range len(lateBounds) + 1 {
		n, _ := rt.State(lateState(i)).(int64)
		for range n {
			late = append(late, float64(lateBounds[min(i, len(lateBounds)-1)])/1e3)
		}
	}
	return late
}

// spin takes n slots by polling preemptible tasks, the first of which has the given name, and
// returns when they run.
func spin(ctx context.Context, rt *cocoon.Runtime, n int, name string) (stop func(), err error) {
	var over atomic.Bool
	var tasks []*cocoon.Handle
	running := make(chan struct{})
	for range n {
		if err := rt.RegisterPreemptibleFunc(name); err != nil {
			return nil, err
		}
		tasks = append(tasks, rt.Go(ctx, name, func(ctx context.Context) error {
			running <- struct{}{}
			for !over.Load() {
				cocoon.SafePoint(ctx)
			}
			return nil
		}))
		<-running
		name = "busy"
	}
	return func() {
		over.Store(true)
		for _, t := range tasks {
			<-t.Done()
		}
	}, nil
}

func tickerTicks(_ context.Context, e effort) (figures, error) {
	var over atomic.Bool
	var spinning sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		spinning.Go(func() {
			for !over.Load() {
			}
		})
	}
	var late []float64
	ticker := time.NewTicker(tickEvery)
	begin := time.Now()
	due := begin.Add(tickEvery)
	for due.Sub(begin) < e.span || len(late) < 100 {
		<-ticker.C
		now := time.Now()
		late = append(late, max(0, float64(now.Sub(due))/1e3))
		// The first tick after now.
		due = due.Add(max(tickEvery, now.Sub(due).Truncate(tickEvery)+tickEvery))
	}
	ticker.Stop()
	over.Store(true)
	spinning.Wait()
	return quantiles(late)
}
