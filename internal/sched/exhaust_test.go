package sched

import (
	"flag"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

var deeper = flag.Int("sched.deeper", 0, "operations more in the exhaustive exploration; one takes five times as long")

// TestExhaust plays every order of operations up to a depth, for small loops and every mix of
// kinds: once from an empty loop, and deeper after all tasks have arrived, in every order. It does
// not continue from a state that was reached before. The short form stops one operation earlier, and
// tries half of the crowds of four.
func TestExhaust(t *testing.T) {
	states, more := 0, *deeper
	if longtest.Off() {
		more--
	}
	for _, cfg := range []Config{
		{Slots: 1, MaxBypass: int64(10 * time.Millisecond)},
		{Slots: 2, MaxBypass: int64(10 * time.Millisecond)},
		{Slots: 2, MaxStarted: 2},
		{Slots: 1, MaxQueue: 1},
	} {
		for _, kinds := range tuples(3) {
			if slices.IsSorted(kinds) {
				states += exhaust(t, cfg, crowd{kinds: kinds}, nil, 5+more)
			}
		}
		for i, kinds := range tuples(4) {
			if cfg.MaxBypass > 0 && kinds[0]&Preemptible != 0 {
				for j, c := range []crowd{{kinds, 0, 0}, {kinds, -1, 0}, {kinds, 0, 0b0101}, {kinds, 0, 0b0110}} {
					if longtest.Off() && (i/4+j)%4 != 0 { // one of the four, by turns
						continue
					}
					states += exhaust(t, cfg, c, c.arrivals(), 2+more)
				}
			}
		}
	}
	t.Logf("%d states", states)
}

// tuples returns every sequence of n kinds.
func tuples(n int) (all [][]Kind) {
	for code := range 1 << (2 * n) {
		kinds := make([]Kind, n)
		for i := range kinds {
			kinds[i] = Kind(code >> (2 * i) & 3)
		}
		all = append(all, kinds)
	}
	return all
}

// crowd is the tasks of a run: their kinds, the difference of each rank to the previous one, and
// the background.
type crowd struct {
	kinds []Kind
	step  int64
	bg    int // bit i: task i is a background task
}

// exhaust plays all runs that start with first and returns how many states it reached.
func exhaust(t *testing.T, cfg Config, c crowd, first []op, depth int) (states int) {
	seen := map[string]bool{}
	front := []run{{cfg, first}}
	alphabet := c.everyOp()
	for range depth {
		var next []run
		for _, r := range front {
			var w *world
			for _, o := range alphabet {
				if w == nil {
					w = r.played()
				}
				if w.legal(o) != "" || len(first) == 0 && c.outOfTurn(w, o) {
					continue
				}
				longer := run{cfg, append(slices.Clone(r.ops), o)}
				_, err := w.do(o)
				after := w
				w = nil
				if err == nil {
					key := after.key()
					if seen[key] {
						continue
					}
					seen[key] = true
					err = after.drain()
				}
				if err != nil {
					t.Fatalf("%v\n%v", err, longer)
				}
				states++
				next = append(next, longer)
			}
		}
		front = next
	}
	return states
}

// outOfTurn reports whether o makes a task arrive while an equal task with a lower number has not
// arrived: the two differ only in name, so it is enough to play the lower number.
func (c crowd) outOfTurn(w *world, o op) bool {
	name := o.task
	switch o.verb {
	case "nest":
		name = o.with
	case "arrive", "adopt":
	default:
		return false
	}
	for i, k := range c.kinds {
		switch a := fmt.Sprintf("t%d", i); {
		case a == name:
			return false
		case k == o.kind && w.find(a) == nil:
			return true
		}
	}
	return false
}

// played returns the world after r, which was checked before.
func (r run) played() *world {
	w := newWorld(r.cfg)
	w.replay = true
	for _, o := range r.ops {
		w.do(o)
	}
	w.replay = false
	return w
}

func (c crowd) arrivals() (ops []op) {
	for i, k := range c.kinds {
		ops = append(ops, op{verb: "arrive", task: fmt.Sprintf("t%d", i), kind: k, rank: int64(i) * c.step, bg: c.bg>>i&1 != 0})
	}
	return ops
}

func (c crowd) everyOp() (all []op) {
	all = c.arrivals()
	for i := range c.kinds {
		a := fmt.Sprintf("t%d", i)
		all = append(all, op{verb: "adopt", task: a, kind: c.kinds[i]})
		for _, verb := range []string{"suspend", "block", "unblock", "yield", "lend", "surface", "exit", "withdraw"} {
			all = append(all, op{verb: verb, task: a})
		}
		if c.bg != 0 && c.bg>>i&1 == 0 {
			all = append(all, op{verb: "background", task: a})
		}
		for j, k := range c.kinds {
			if b := fmt.Sprintf("t%d", j); i != j {
				all = append(all, op{verb: "nest", task: a, with: b, kind: k}, op{verb: "unnest", task: a, with: b})
			}
		}
	}
	return append(all, op{verb: "hold"}, op{verb: "release"}, op{verb: "open"}, op{verb: "shut"}, op{verb: "advance", d: 10 * time.Millisecond})
}

// key distinguishes states as far as their future can differ: times count only up to MaxBypass.
func (w *world) key() string {
	var b strings.Builder
	age := func(since int64) int64 { return min(w.now-since, w.cfg.MaxBypass) }
	fmt.Fprintf(&b, "%v %d", w, w.holds)
	for i := range w.c.slots {
		if w.c.slots[i].suspended.n > 0 {
			fmt.Fprintf(&b, " %d", age(w.passed[i]))
		}
	}
	for i := range 8 { // the lines
		if since, ok := w.passedOver[line{i >= 4, Kind(i & 3)}]; ok {
			fmt.Fprintf(&b, " %d", age(since))
		}
	}
	sorted := slices.SortedFunc(slices.Values(w.actors), func(x, y *actor) int { return strings.Compare(x.name, y.name) })
	for _, a := range sorted {
		fmt.Fprintf(&b, " %s%d.%d", a.name, a.Kind, max(0, a.Task.immune-w.now))
		if a.state == Queued || a.state == Ready || a.state == Suspended {
			fmt.Fprintf(&b, ".%d", age(a.since))
		}
		if a.place != (place{}) {
			fmt.Fprintf(&b, "%v", a.place)
		}
		if a.inner != nil {
			b.WriteString(">" + a.inner.name)
		}
	}
	return b.String()
}
