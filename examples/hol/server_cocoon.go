package main

import (
	"context"
	"errors"
	"runtime"

	"github.com/cocoon-go/cocoon/cocoon"
)

// hybrid runs the same work as tasks of a loop with a slot for each core. A get that arrives while
// scans hold all slots makes the runtime suspend a scan at its next safe point; then the get runs,
// and gives the slot back.
type hybrid struct {
	db *store
	rt *cocoon.Runtime
}

func openHybrid(db *store) (service, error) {
	return openWith(db, cocoon.Config{Slots: runtime.NumCPU()})
}

// openKept leaves GOMAXPROCS as it is. Then a get whose connection no P polls waits for a scan's
// time slice, but the scans must go on as fast.
func openKept(db *store) (service, error) {
	return openWith(db, cocoon.Config{Slots: runtime.NumCPU(), KeepProcs: true})
}

func openWith(db *store, cfg cocoon.Config) (service, error) {
	rt, err := cocoon.New(cfg)
	if err != nil {
		return nil, err
	}
	_, err = rt.RegisterDefaultPreemption(cocoon.OnEnqueue)
	return hybrid{db, rt}, errors.Join(err, rt.RegisterSafeFunc("get"), rt.RegisterPreemptibleFunc("scan"))
}

func (h hybrid) get(ctx context.Context, id uint64) (value []byte, err error) {
	err = h.rt.Run(ctx, "get", func(context.Context) (err error) {
		value, err = h.db.get(id)
		return err
	})
	return value, err
}

func (h hybrid) scan(ctx context.Context, from, to uint64) (sum summary, err error) {
	err = h.rt.Run(ctx, "scan", func(ctx context.Context) (err error) {
		sum, err = h.db.scan(from, to, func() { cocoon.SafePoint(ctx) })
		return err
	})
	return sum, err
}

func (h hybrid) close() error { return h.rt.Shutdown(context.Background()) }
