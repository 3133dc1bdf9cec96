package main

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/guest"
)

// guestWorld measures how long the Go runtime takes to stop the world while a guest runs: the
// longest of some tens of calls of runtime.ReadMemStats. Go cannot interrupt a guest's code, so on
// plain wazero it waits until the guest returns. The guest multiplies matrices, because one that
// spins would never return.
func guestWorld(ctx context.Context, r *report, e guestEffort) error {
	wasm, err := readGuest(workloadsGuest)
	if err != nil {
		return err
	}
	longest := map[string]float64{}
	for _, open := range []opener{openPlain, openGuest(guest.Epoch), openGuest(guest.Fuel)} {
		host, err := open(ctx, wasm)
		if err != nil {
			return err
		}
		longest[host.name], err = longestStop(ctx, e, host)
		if err := errors.Join(err, host.close()); err != nil {
			return err
		}
	}
	for _, m := range mechanismRows {
		r.add(result{Name: "stop of the world", Metric: m.name + "_longest", Value: longest[m.name], Unit: "ms",
			Peer: "wazero", PeerValue: longest["wazero"]}, claim{atMost: 1})
	}
	return nil
}

// longestStop returns how long the world took at most to stop, in ms, while the guest worked.
func longestStop(ctx context.Context, e guestEffort, host engine) (float64, error) {
	var over atomic.Bool
	ended := make(chan error, 1)
	go func() {
		for !over.Load() {
			if _, err := host.call("matmul"); err != nil {
				ended <- err
				return
			}
		}
		ended <- nil
	}()
	before := stopsOfTheWorld()
	for end := time.Now().Add(5 * e.span); time.Now().Before(end) && ctx.Err() == nil; {
		time.Sleep(10 * time.Millisecond)
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
	}
	over.Store(true)
	longest := longestSince(before)
	return longest, errors.Join(<-ended, ctx.Err())
}
