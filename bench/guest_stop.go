package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
	"github.com/cocoon-go/cocoon/guest/meter"
)

// guestStop measures how long it takes from a request to suspend a guest until the guest is
// suspended: a task arrives, a policy lets it in, and it runs on the guest's slot. The peer is what
// bareStops measures just before. The figures are medians of several series, each with a guest of
// its own.
//
// On a busy machine most of the longest times pass while the kernel runs other threads on the cores
// that the guest and the arriving task need. So a second series measures the guest's own time: the
// processor time of the guest's thread from the request until the arriving task runs.
func guestStop(ctx context.Context, r *report, e guestEffort) error {
	wasm, err := readGuest(workloadsGuest)
	if err != nil {
		return err
	}
	for _, load := range tableOne(e) {
		for _, mechanism := range []meter.Mechanism{guest.Epoch, guest.Fuel} {
			name := load.name + ", " + mechanism.String()
			bare := func(context.Context, effort) (figures, error) { return bareStops(e.requests) }
			by := func(c clock) side {
				return func(ctx context.Context, _ effort) (figures, error) {
					return load.stops(ctx, e.requests, mechanism, wasm, c)
				}
			}
			late, err := medians(ctx, effort{rounds: e.series}, bare, by(wallClock))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			const peer = "a goroutine without a guest"
			r.add(result{Name: name, Metric: "suspended_p50", Value: late[1][0], Unit: "µs", Peer: peer, PeerValue: late[0][0]}, claim{})
			r.add(result{Name: name, Metric: "suspended_p99", Value: late[1][1], Unit: "µs", Peer: peer, PeerValue: late[0][1]}, upTo(200))
			own, err := medians(ctx, effort{rounds: e.series}, by(threadClock))
			switch {
			case errors.Is(err, errors.ErrUnsupported):
				r.progress("without the own time of suspensions: only Linux tells it")
				continue
			case err != nil:
				return fmt.Errorf("%s: %w", name, err)
			}
			r.add(result{Name: name, Metric: "suspended_own_p50", Value: own[0][0], Unit: "µs"}, claim{})
			r.add(result{Name: name, Metric: "suspended_own_p99", Value: own[0][1], Unit: "µs"}, upTo(200))
		}
	}
	return nil
}

// clock returns what measures the times of the goroutine that calls it. Any goroutine may read it.
type clock func() (read func() time.Duration, err error)

// wallClock is the clock of the machine.
func wallClock() (func() time.Duration, error) {
	begin := time.Now()
	return func() time.Duration { return time.Since(begin) }, nil
}

// stops returns the median and the 99th percentile of the times from request to suspension, in µs
// of the guest's clock.
func (load workload) stops(ctx context.Context, n int, mechanism meter.Mechanism, wasm []byte, c clock) (late figures, err error) {
	w, err := openWard(cocoon.Config{Slots: 1, StallAfter: -1}, guest.Config{Name: "load", Mechanism: mechanism, Slice: -1}, wasm)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.runtime.RegisterPreemptibleFunc("load"); err != nil {
		return nil, err
	}
	if err := w.runtime.RegisterSafeFunc("urgent"); err != nil {
		return nil, err
	}
	if _, err := w.runtime.RegisterDefaultPreemption(cocoon.OnEnqueue); err != nil {
		return nil, err
	}
	in, err := w.instantiate(ctx)
	if err != nil {
		return nil, err
	}
	running := make(chan struct{})
	var now func() time.Duration
	h := w.runtime.Go(ctx, "load", func(ctx context.Context) (err error) {
		if now, err = c(); err != nil {
			return err
		}
		return load.repeat(ctx, in, running)
	})
	select {
	case <-running:
	case <-h.Done():
		return nil, h.Wait(ctx)
	}
	var all []time.Duration
	for range n {
		time.Sleep(time.Duration(rand.IntN(int(2 * time.Millisecond))))
		var begun time.Duration
		at := now()
		if err := w.runtime.Run(ctx, "urgent", func(context.Context) error { begun = now(); return nil }); err != nil {
			return nil, err
		}
		all = append(all, begun-at)
	}
	h.Cancel()
	<-h.Done()
	if h.Account().Preemptions < int64(n)*9/10 {
		return nil, fmt.Errorf("%d of %d requests suspended the guest", h.Account().Preemptions, n)
	}
	late, err = lateness(all)
	return late[:2], err
}

// repeat calls the workload in the instance until ctx ends.
func (load workload) repeat(ctx context.Context, in *guest.Instance, running chan struct{}) error {
	args := load.args
	if load.vector > 0 {
		at, err := only(in.Call(ctx, "vectors", uint64(load.vector)))
		if err != nil {
			return err
		}
		args = []int32{int32(at), int32(load.vector)}
	}
	close(running)
	for {
		if _, err := in.Call(ctx, load.function, arguments(args)...); err != nil {
			return err
		}
	}
}
