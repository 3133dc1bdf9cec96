package main

import (
	"context"
	"errors"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest"
)

// guestPage is the size of the linear memory of a guest of the crowd.
const guestPage = 64 << 10

// guestCrowd measures the memory of guests suspended in the middle of their work, each in
// an instance of its own. They take turns on one slot, so all but one are suspended.
func guestCrowd(ctx context.Context, r *report, e guestEffort) (err error) {
	wasm, err := readGuest(smallGuest)
	if err != nil {
		return err
	}
	w, err := openWard(cocoon.Config{Slots: 1, StallAfter: -1}, guest.Config{Mechanism: guest.Fuel, FuelSlice: 1000}, wasm)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	before := alive()
	// all before the first thread, because threads that spin would delay the rest
	for range e.crowd {
		if _, err := w.instantiate(ctx); err != nil {
			return err
		}
	}
	var all []*guest.Thread
	for _, in := range w.instances {
		all = append(all, in.Spawn(ctx, "spin"))
	}
	if err := allSuspended(ctx, all); err != nil {
		return err
	}
	each := (alive() - before) / float64(e.crowd)
	r.add(result{Name: "suspended guests", Metric: "number", Value: float64(e.crowd - 1), Unit: "guests"}, claim{})
	r.add(result{Name: "suspended guests", Metric: "bytes", Value: each - guestPage, Unit: "B"}, claim{})
	r.add(result{Name: "suspended guests", Metric: "bytes_with_memory", Value: each, Unit: "B"}, claim{})
	return nil
}
