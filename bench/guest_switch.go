package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// switchFuel is the slice of guests that do nothing but switch: some tens of nanoseconds of work.
const switchFuel = 100

// guestSwitch measures how long it takes to suspend a guest at a safe point and to resume another,
// in processor time. Two guests spin on one slot, with slices so short that they do little else.
// They have an instance each, or share one. As in section micro, it is measured on one P, and with
// more as "spread_ns", and everything that watches the clock is off.
func guestSwitch(ctx context.Context, r *report, e guestEffort) error {
	wasm, err := readGuest(smallGuest)
	if err != nil {
		return err
	}
	with := func(ps int, shared bool) side {
		return func(ctx context.Context, e effort) (figures, error) {
			return withProcs(ps, func() (figures, error) { return guestSwitches(ctx, e, wasm, shared) })
		}
	}
	got, err := medians(ctx, e.effort, with(1, false), with(1, true), with(3, false), with(3, true), pingSide(1), pingSide(3))
	if err != nil {
		return err
	}
	const peer = "two channel operations"
	for i, name := range []string{"switch", "switch in an instance"} {
		r.add(result{Name: name, Metric: "ns", Value: got[i][ns], Unit: "ns", Peer: peer, PeerValue: got[4][ns]}, upTo(2000))
		r.add(result{Name: name, Metric: "spread_ns", Value: got[2+i][ns], Unit: "ns", Peer: peer, PeerValue: got[5][ns]}, claim{})
	}
	return nil
}

func guestSwitches(ctx context.Context, e effort, wasm []byte, shared bool) (f figures, err error) {
	w, err := openWard(
		cocoon.Config{Slots: 1, KeepProcs: true, Breath: -1, StallAfter: -1, MaxBypass: -1},
		guest.Config{Mechanism: guest.Fuel, FuelSlice: switchFuel, Threads: true}, wasm)
	if err != nil {
		return nil, err
	}
	defer w.close()
	instances, perInstance := 2, 1
	if shared {
		instances, perInstance = 1, 2
	}
	var threads []*guest.Thread
	for range instances {
		in, err := w.instantiate(ctx)
		if err != nil {
			return nil, err
		}
		for range perInstance {
			threads = append(threads, in.Spawn(ctx, "spin"))
		}
	}
	if err := allSuspended(ctx, threads); err != nil {
		return nil, err
	}
	used := func() (n int64) {
		for _, t := range threads {
			n += t.FuelUsed()
		}
		return n
	}
	before, cpu := used(), loadtest.CurrentUsage().CPU
	time.Sleep(e.span)
	switches := (used() - before) / switchFuel
	took := loadtest.CurrentUsage().CPU - cpu
	if switches < 1000 {
		return nil, fmt.Errorf("%d switches in %v are too few", switches, e.span)
	}
	return figures{float64(took) / float64(switches)}, nil
}

// allSuspended waits until each thread has run, and thus all but one are suspended.
func allSuspended(ctx context.Context, threads []*guest.Thread) error {
	end := time.Now().Add(crowdPatience)
	for _, t := range threads {
		for t.FuelUsed() == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
			select {
			case <-t.Done():
				_, err := t.Wait(ctx)
				return fmt.Errorf("a guest that spins has ended: %w", err)
			case <-time.After(crowdGlance):
			}
			if time.Now().After(end) {
				return fmt.Errorf("of %d guests some have not run within %v", len(threads), crowdPatience)
			}
		}
	}
	return nil
}
