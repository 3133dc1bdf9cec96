package cocoon

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// due is a context with a deadline that is never enforced.
type due struct {
	context.Context
	at time.Time
}

func (d due) Deadline() (time.Time, bool) { return d.at, true }

// From the bounds of the catalogue the analyzer proves that nothing overflows and nothing is
// divided by zero. So the bounds hold whatever the application declares, even at a time read before
// the task arrived.
func TestSnapshotKeepsTheBounds(t *testing.T) {
	rt := start(t, Config{Slots: 1})
	must(t, rt.RegisterTenants(Tenants{Label: "tenant", Shares: map[string]int{"a": 1}}))
	l := rt.Loop()
	longAgo, farAway := time.Unix(-1<<40, 0), time.Unix(1<<40, 0)
	for name, at := range map[string]time.Time{"long ago": longAgo, "far away": farAway} {
		ctx := WithCost(WithLabel(due{background, at}, "tenant", "a"), math.MaxInt64)
		must(t, rt.Run(ctx, name, func(ctx context.Context) error {
			_, err := Section(ctx, "part", func() (int, error) {
				l.lockAll()
				defer l.unlock()
				for _, now := range []int64{0, notify.Now(), math.MaxInt64 / 4} {
					s := strandOf(ctx)
					l.view.about(s, s)
					for _, stub := range stubs.Catalogue {
						if !stub.Type.Integral() {
							continue
						}
						words := make([]uint64, 1)
						l.view.fill(l, []read{{stub: stub.ID, words: 1, key: stubs.Intern("part"), zone: time.UTC}}, words, now)
						if v := int64(words[0]); v < stub.Min || v > stub.Max {
							t.Errorf("deadline %s, at %d: %s is %d; want %d to %d", name, now, stub.Path, v, stub.Min, stub.Max)
						}
					}
				}
				return 0, nil
			})
			return err
		}))
	}
}
