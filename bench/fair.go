package main

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/policy"
)

// client is a tenant under load: for each slot, a number of its requests are in flight at any time,
// each with the given work.
type client struct {
	name  string
	share int
	crowd int
	work  time.Duration
}

// clients are the tenants. The client with the smallest share sends the most requests with the
// longest tasks: in order of arrival it gets the most slot time.
var clients = []client{
	{"gold", 4, 4, 500 * time.Microsecond},
	{"silver", 2, 8, time.Millisecond},
	{"free", 1, 16, 2 * time.Millisecond},
}

// fair measures how far tenants are from their shares of a loop that all of them saturate, in
// comparison with a loop that starts tasks in order of arrival. The loop has a slot for each core;
// the default is one core.
func fair(ctx context.Context, r *report) error {
	return fairWith(ctx, r, effort{rounds: 3, span: 3 * time.Second})
}

func fairWith(ctx context.Context, r *report, e effort) error {
	got, err := medians(ctx, e, fairSide(r.cores, policy.FairShare()), fairSide(r.cores, policy.FirstInFirstOut()))
	if err != nil {
		return err
	}
	const peer = "order of arrival"
	shares, arrival := got[0], got[1]
	for i, c := range clients {
		r.add(result{Name: c.name, Metric: "slot_time", Value: 100 * shares[i], Unit: "%", Peer: peer, PeerValue: 100 * arrival[i]}, claim{})
	}
	last := len(clients)
	r.add(result{Name: "shares", Metric: "off", Value: 100 * shares[last], Unit: "%", Peer: peer, PeerValue: 100 * arrival[last]}, upTo(5))
	return nil
}

// fairSide returns the share of slot time that each client got, and the largest relative deviation
// of a client from its share.
func fairSide(slots int, order cocoon.Policy) side {
	return func(ctx context.Context, e effort) (figures, error) {
		return withRuntime(cocoon.Config{Slots: slots}, func(rt *cocoon.Runtime) (figures, error) {
			shares := map[string]int{}
			for _, c := range clients {
				shares[c.name] = c.share
			}
			if err := rt.RegisterTenants(cocoon.Tenants{Label: "tenant", Shares: shares}); err != nil {
				return nil, err
			}
			if _, err := rt.RegisterPolicy(order); err != nil {
				return nil, err
			}
			return slotTime(ctx, rt, slots, e.span)
		})
	}
}

func slotTime(ctx context.Context, rt *cocoon.Runtime, slots int, span time.Duration) (figures, error) {
	ctx, cancel := context.WithTimeout(ctx, span)
	defer cancel()
	var crowd sync.WaitGroup
	for _, c := range clients {
		for range slots * c.crowd {
			crowd.Go(func() {
				ctx := cocoon.WithLabel(ctx, "tenant", c.name)
				for ctx.Err() == nil {
					rt.Run(ctx, c.name, func(context.Context) error { work(c.work); return nil })
				}
			})
		}
	}
	<-ctx.Done()
	tenants := rt.Loop().Stats().Tenants
	crowd.Wait()
	var all time.Duration
	weights := 0
	for _, c := range clients {
		all += tenants[c.name].Running
		weights += c.share
	}
	if all == 0 {
		return nil, fmt.Errorf("no task ran within %v", span)
	}
	var f figures
	worst := 0.0
	for _, c := range clients {
		got, due := float64(tenants[c.name].Running)/float64(all), float64(c.share)/float64(weights)
		worst = max(worst, math.Abs(got/due-1))
		f = append(f, got)
	}
	return append(f, worst), nil
}

// work spins for d.
func work(d time.Duration) {
	for end := time.Now().Add(d); time.Now().Before(end); {
	}
}
