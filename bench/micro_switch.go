package main

import (
	"context"
	"fmt"
	"runtime"

	"github.com/cocoon-go/cocoon/cocoon"
)

// microSwitch measures a switch: a preemptible task polls in a loop on the only slot, under the
// ready-made preemption by enqueue, and another goroutine repeatedly calls Run of an empty safe
// task. The figure is the time of one such call, from its beginning to the beginning of the next:
//
//   - the safe task arrives, the policy is evaluated and posts the request, its goroutine parks;
//   - the preemptible task polls, answers, is suspended, hands its slot over, parks;
//   - the safe task runs and ends, and hands the slot back;
//   - the preemptible task is ready to continue.
//
// On one P the preemptible task polls as soon as it gets the processor, so the figure includes no
// time until a safe point, and no wake-up of another core; the peer, two goroutines that send to
// each other over unbuffered channels, changes goroutines as often. "spread_ns" is the same with a
// P for each, as by default: for both, most of it is the wake-up time of other cores. Everything
// that watches the clock is off, namely the breath, stalls and the bypass: it would act when
// another process takes the core, and then the figure would not measure a switch.
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

// withProcs calls f with the given GOMAXPROCS.
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

// turn is how often the preemptible task polls before it yields to Go's scheduler. If the scheduler
// takes the processor from the other goroutine, each 10 ms or so, the preemptible task has no task
// to yield to and works, for up to 10 ms: this took a fifth of all the time, without a switch in
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

// pingSide is two goroutines that respond to each other over unbuffered channels: a send and a
// receive each.
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
