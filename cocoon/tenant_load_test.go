package cocoon

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// Thousands of tenants send on two loops at a time, while a document is loaded again and again.
// Each tenant gets its burst and no more, and its sum is what its own client has counted.
func TestThousandsOfTenants(t *testing.T) {
	n := longtest.Count(4000, 500)
	rt, file := start(t, Config{Slots: 2}), newPolicyFile(t)
	other := newLoopOf(t, rt, "other", 1)
	version := func(i int) string {
		return fmt.Sprintf(`
tenants: {label: tenant, max: %d}
states:
  bucket: {rate: 1e-9, burst: 3, keys: %[1]d}
  ended: {first: 0, keys: %[1]d}
  arrived: {first: 0, keys: %[1]d}
policies:
  - {name: arrived, on: enqueue, expr: 'add("arrived", tenant.name, 1)'}
  - {name: bucket%d, on: enqueue, expr: 'take("bucket", tenant.name, 1) ? continue() : throw("rate")'}
  - {name: ended, on: exit, expr: 'add("ended", tenant.name, 1)'}
`, n+1, i)
	}
	must(t, file.load(t, rt, version(0)))
	let := make([]atomic.Int64, n)
	var clients sync.WaitGroup
	for client := range 4 {
		clients.Go(func() {
			for round := range 2 {
				for i := range n {
					tenant := (i*7919 + client*n/4) % n
					loop := []*Loop{rt.Loop(), other}[(client+round)%2]
					if loop.Run(WithLabel(background, "tenant", fmt.Sprint("tenant-", tenant)), "job", idle) == nil {
						let[tenant].Add(1)
					}
				}
			}
		})
	}
	var ended atomic.Bool
	var reloads sync.WaitGroup
	reloads.Go(func() {
		for i := 1; !ended.Load(); i++ {
			if err := file.load(t, rt, version(i)); err != nil {
				t.Error(err)
			}
		}
	})
	within(t, "the clients", clients.Wait)
	ended.Store(true)
	within(t, "the reloads", reloads.Wait)
	for i := range let {
		key := fmt.Sprint("tenant-", i)
		if got := let[i].Load(); got != 3 || rt.State("ended", key) != got || rt.State("arrived", key) != int64(8) {
			t.Fatalf("%s: %d of 8 were let in, %v have ended and %v arrived; want 3", key, got, rt.State("ended", key), rt.State("arrived", key))
		}
	}
	for name, st := range rt.Stats().States {
		if st.Keys != n || st.Evicted+st.Expired != 0 {
			t.Errorf("%s: %+v", name, st)
		}
	}
}
