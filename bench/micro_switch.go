package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/cocoon-go/cocoon/cocoon"
)

// microSwitch measures a switch: a preemptible task polls in a loop on the only slot, under the
// ready-made preemption by enqueue, and another goroutine calls Run of an empty safe task, again
// and again. The figure is the time of one such call, from its beginning to the beginning of the
// next:
//
//   - the safe task arrives, the policy is evaluated and posts the request, its goroutine parks;
//   - the preemptible task polls, answers, is suspended, hands its slot over, parks;
//   - the safe task runs and ends, and hands the slot back;
//   - the preemptible task is ready to go on.
//
// On one P the preemptible task polls as soon as it gets the processor, so no time until a safe
// point is in it, and no other core's wake-up; the peer, two goroutines that answer each other over
// unbuffered channels, changes goroutines as often. "spread_ns" is the same with a P for each, as
// they come by default: how fast other cores wake up is most of it, for both. What looks at the
// clock is off, the breath, stalls and the bypass: when another process takes the core they act,
// and it is not a switch that is measured then.
func microSwitch(ctx context.Context, r *report, e effort) error {
	got, err := medians(ctx, e, switchSide(1), pingSide(1), switchSide(3), pingSide(3))
	if err != nil {
		return err
	}
	const peer = "two channel operations"
	r.add(result{Name: "switch", Metric: "ns", Value: got[0][ns], Unit: "ns", Peer: peer, PeerValue: got[1][ns]}, upTo(600))
	r.add(result{Name: "switch", Metric: "allocs", Value: got[0][allocs], Unit: "allocs", Peer: peer, PeerValue: got[1][allocs]}, claim{})
	r.add(result{Name: "switch", Metric: "spread_ns", Value: got[2][ns], Unit: "ns", Peer: peer, PeerValue: got[3][ns]}, claim{})
	return nil
}

// withProcs calls f with that GOMAXPROCS.
func withProcs(n int, f func() (figures, error)) (figures, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(n))
	return f()
}

func switchSide(ps int) side {
	return func(ctx context.Context, e effort) (figures, error) {
		return withProcs(ps, func() (figures, error) {
			cfg := cocoon.Config{Slots: 1, KeepProcs: true, Breath: -1, StallAfter: -1, MaxBypass: -1}
			return withRuntime(cfg, func(rt *cocoon.Runtime) (figures, error) {
				return switches(ctx, rt, e)
			})
		})
	}
}

// turn is how often the preemptible task polls before it yields to Go's scheduler. When that takes
// the processor from the other goroutine, each 10 ms or so, the preemptible task has nobody to make
// room for and works, for 10 ms if it may: a fifth of all the time was that, and nobody switched in
// it.
const turn = 64

func switches(ctx context.Context, rt *cocoon.Runtime, e effort) (f figures, err error) {
	if err := rt.RegisterSafeFunc("get"); err != nil {
		return nil, err
	}
	if err := rt.RegisterPreemptibleFunc("scan"); err != nil {
		return nil, err
	}
	if _, err := rt.RegisterDefaultPreemption(cocoon.OnEnqueue); err != nil {
		return nil, err
	}
	started := make(chan struct{})
	scan := rt.Go(ctx, "scan", func(ctx context.Context) error {
		close(started)
		for ctx.Err() == nil {
			for range turn {
				cocoon.SafePoint(ctx)
			}
			runtime.Gosched()
		}
		return nil
	})
	<-started
	calls := int64(0)
	f = perOperation(e.span, func(n int) {
		calls += int64(n)
		for range n {
			if e := rt.Run(ctx, "get", nothing); e != nil {
				err = e
			}
		}
	})
	switched := scan.Account().Preemptions
	scan.Cancel()
	<-scan.Done()
	if err == nil && switched < calls*99/100 {
		err = fmt.Errorf("%d of %d calls found the slot free; each must switch the other task out", calls-switched, calls)
	}
	return f, err
}

// pingSide is a goroutine that answers another over unbuffered channels: a send and a receive each.
func pingSide(ps int) side {
	return func(_ context.Context, e effort) (figures, error) {
		return withProcs(ps, func() (figures, error) {
			there, back := make(chan struct{}), make(chan struct{})
			go func() {
				for range there {
					back <- struct{}{}
				}
			}()
			defer close(there)
			return perOperation(e.span, func(n int) {
				for range n {
					there <- struct{}{}
					<-back
				}
			}), nil
		})
	}
}
