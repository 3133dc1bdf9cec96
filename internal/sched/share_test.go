package sched

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// tenant is a group under test. It keeps n tasks in the loop, each of about the given work, and
// expects them to cost what it declares.
type tenant struct {
	weight   int64
	crowd    int
	work     time.Duration
	declares time.Duration
}

// TestShares checks that under saturation slot time is shared by the weights, to within 5 %,
// whatever the tasks cost and whatever was expected, if tags are the ranks.
func TestShares(t *testing.T) {
	const ms = time.Millisecond
	span := 100 * time.Second
	if longtest.Off() {
		span /= 10
	}
	for name, tenants := range map[string][]tenant{
		"equal":            {{1, 4, ms, ms}, {1, 4, ms, ms}},
		"1 to 3":           {{1, 4, ms, ms}, {3, 4, ms, ms}},
		"1 to 2 to 7":      {{1, 9, ms, ms}, {2, 9, ms, ms}, {7, 9, ms, ms}},
		"long and short":   {{1, 4, 10 * ms, 10 * ms}, {1, 9, ms / 4, ms / 4}},
		"crowd and few":    {{1, 200, ms, ms}, {1, 4, ms, ms}},
		"nothing expected": {{1, 30, 3 * ms, 0}, {2, 4, ms, ms}},
		"too much":         {{1, 4, ms, 50 * ms}, {1, 4, ms, ms}},
		"all wrong":        {{2, 20, 5 * ms, ms}, {3, 9, ms, 9 * ms}, {5, 9, 2 * ms, 0}},
	} {
		for slots := 1; slots <= 4; slots *= 2 {
			t.Run(fmt.Sprintf("%s/%d slots", name, slots), func(t *testing.T) {
				used := share(t, tenants, slots, span)
				var all, weights float64
				for i, x := range tenants {
					all += used[i]
					weights += float64(x.weight)
				}
				for i, x := range tenants {
					if got, want := used[i]/all, float64(x.weight)/weights; got < 0.95*want || got > 1.05*want {
						t.Errorf("tenant %d has %.4f of the slot time, want %.4f", i, got, want)
					}
				}
			})
		}
	}
}

// share lets the tenants compete for d and returns the running time of each.
func share(t *testing.T, tenants []tenant, slots int, d time.Duration) (used []float64) {
	t.Helper()
	c := NewCore(Config{Slots: slots, MaxBypass: int64(100 * time.Millisecond)})
	rnd := rand.New(rand.NewPCG(1, 2))
	groups := make([]Group, len(tenants))
	arrive := func(now int64, who int) {
		x := new(Task)
		x.Reset(Atomic)
		x.Group, x.Cost, x.Owner = &groups[who], int64(tenants[who].declares), who
		c.Arrive(x, now)
		c.SetRank(x, x.Tag())
	}
	for i, x := range tenants {
		groups[i].Weight = x.weight
		for range x.crowd {
			arrive(0, i)
		}
	}
	ends := make([]int64, slots) // of the tasks in the slots
	begin := func(now int64, x *Task) {
		work := tenants[x.Owner.(int)].work
		ends[x.Slot()] = now + int64(work)/2 + rnd.Int64N(int64(work))
	}
	for i := range ends {
		begin(0, c.Current(i))
	}
	c.Granted()
	now := int64(0)
	for now < int64(d) {
		next := 0
		for i := range ends {
			if ends[i] < ends[next] {
				next = i
			}
		}
		now = ends[next]
		x := c.Current(next)
		arrive(now, x.Owner.(int)) // saturated: a new task arrives before this one ends
		c.Exit(x, now)
		for _, x := range c.Granted() {
			begin(now, x)
		}
	}
	for i := range groups {
		used = append(used, float64(groups[i].Running(now)))
	}
	return used
}

// TestSharesForgetThePast checks that a group that was idle has no credit and does not occupy the
// loop afterwards, and that a group that was alone has no debt.
func TestSharesForgetThePast(t *testing.T) {
	c := NewCore(Config{Slots: 1})
	idle, alone := new(Group), new(Group)
	arrive := func(g *Group, now int64) *Task {
		x := new(Task)
		x.Reset(Atomic)
		x.Group, x.Cost = g, 10
		c.Arrive(x, now)
		c.SetRank(x, x.Tag())
		return x
	}
	for now := int64(0); now < 10_000; now += 10 {
		c.Exit(arrive(alone, now), now+10)
	}
	running := arrive(alone, 10_000)
	var order string
	for range 3 {
		arrive(alone, 10_000).Owner = "a"
		arrive(idle, 10_000).Owner = "i"
	}
	c.Exit(running, 10_010)
	for now := int64(10_020); len(c.granted) > 0; now += 10 {
		x := c.Granted()[0]
		order += x.Owner.(string)
		c.Exit(x, now)
	}
	if order != "iaiaia" {
		t.Errorf("started in the order %s, want one in turn", order)
	}
}

// TestSharesOfAbsurdCosts checks that virtual time does not overflow, whatever costs are declared.
func TestSharesOfAbsurdCosts(t *testing.T) {
	c := NewCore(Config{Slots: 1})
	g := new(Group)
	arrive := func(now int64) *Task {
		x := new(Task)
		x.Reset(Atomic)
		x.Group, x.Cost = g, math.MaxInt64
		c.Arrive(x, now)
		return x
	}
	last := arrive(0)
	for now := int64(1); now < 10; now++ {
		x := arrive(now)
		if x.Tag() < last.Tag() || x.Tag() > maxVirtual {
			t.Fatalf("tag %d after %d", x.Tag(), last.Tag())
		}
		last = x
	}
	c.Withdraw(last, 10)
	c.Exit(c.Current(0), 10)
	if x := arrive(11); x.Tag() < 0 || g.finish < 0 {
		t.Errorf("tag %d, finish %d", x.Tag(), g.finish)
	}
}
