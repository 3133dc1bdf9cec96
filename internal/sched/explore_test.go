package sched

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

var (
	steps = flag.Int("sched.steps", 0, "random operations to explore; 0 means 100,000, or 40,000 in the short form")
	seed  = flag.Uint64("sched.seed", 1, "first seed of the explorer")
)

// run is one random sequence of operations on a loop.
type run struct {
	cfg Config
	ops []op
}

func (r run) String() string {
	lines := []string{fmt.Sprintf("loop slots=%d maxqueue=%d maxstarted=%d maxbypass=%v",
		r.cfg.Slots, r.cfg.MaxQueue, r.cfg.MaxStarted, time.Duration(r.cfg.MaxBypass))}
	for _, o := range r.ops {
		lines = append(lines, o.String())
	}
	return strings.Join(lines, "\n")
}

// replay performs r's operations, except illegal ones, and returns the first error.
func (r run) replay() (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	w := newWorld(r.cfg)
	for _, o := range r.ops {
		if w.legal(o) == "" {
			if _, err := w.do(o); err != nil {
				return fmt.Errorf("%v: %w", o, err)
			}
		}
	}
	return w.drain()
}

// shrunk returns a shorter run that fails too: it leaves operations out, in halves, quarters and so
// on, as long as the rest still fails.
func (r run) shrunk() run {
	for size := (len(r.ops) + 1) / 2; size > 0; {
		smaller := false
		for at := 0; at+size <= len(r.ops); {
			without := run{r.cfg, append(append([]op{}, r.ops[:at]...), r.ops[at+size:]...)}
			if without.replay() != nil {
				r, smaller = without, true
			} else {
				at += size
			}
		}
		if !smaller || size > len(r.ops) {
			size /= 2
		}
	}
	return r
}

const liveTasks = 30

// randomRun makes a run by performing it: each operation is drawn from likely legal operations.
func randomRun(rnd *rand.Rand, n int) (r run, err error) {
	r.cfg = Config{Slots: 1 + rnd.IntN(4), MaxBypass: int64(rnd.IntN(3)) * int64(5*time.Millisecond)}
	if rnd.IntN(3) == 0 {
		r.cfg.MaxQueue = 1 + rnd.IntN(10)
	}
	if rnd.IntN(3) == 0 {
		r.cfg.MaxStarted = 1 + rnd.IntN(8)
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	w := newWorld(r.cfg)
	crowd := 1 + rnd.IntN(liveTasks)
	for len(r.ops) < n {
		o := randomOp(rnd, w, crowd)
		if w.legal(o) != "" {
			continue
		}
		r.ops = append(r.ops, o)
		if _, err := w.do(o); err != nil {
			return r, fmt.Errorf("%v: %w", o, err)
		}
	}
	return r, w.drain()
}

var verbs = []string{"suspend", "suspend", "suspend", "suspend", "block", "block", "unblock", "unblock", "unblock", "yield",
	"lend", "startlent", "surface", "discount", "exit", "exit", "exit", "withdraw", "rank", "background", "nest", "unnest", "unnest", "hold", "release", "release", "open", "open", "shut", "shut", "adopt", "adopt", "resize"}

func randomOp(rnd *rand.Rand, w *world, crowd int) op {
	arrival := func(name string) op {
		o := op{verb: "arrive", task: name, kind: Kind(rnd.IntN(4))}
		if crowd%2 == 0 { // half of the runs have ranks
			o.rank = randomRank(rnd)
		}
		o.bg = crowd%3 == 0 && rnd.IntN(3) == 0 // a third of the runs have a background
		if in := rnd.IntN(4); in > 0 {
			o.in, o.cost = string(rune('w'+in)), time.Duration(rnd.IntN(3000))*time.Microsecond
		}
		return o
	}
	name := func() string { return fmt.Sprintf("t%d", rnd.IntN(crowd)) }
	switch {
	case rnd.IntN(6) == 0:
		return arrival(name())
	case rnd.IntN(5) == 0:
		return op{verb: "advance", d: time.Duration(1+rnd.IntN(3000)) * time.Microsecond}
	}
	o := op{verb: verbs[rnd.IntN(len(verbs))]}
	switch o.verb {
	case "hold", "release", "open", "shut", "startlent":
		return o
	case "resize":
		o.rank = int64(1 + rnd.IntN(w.cfg.Slots))
		return o
	case "adopt":
		o.task, o.kind = name(), Kind(rnd.IntN(4))
		if i := w.anOpenSlot(); i >= 0 {
			o.d = time.Duration(rnd.Int64N(max(1, 1+w.now-w.openedAt[i])))
		}
		return o
	}
	if len(w.actors) == 0 {
		return arrival(name())
	}
	a := w.actors[rnd.IntN(len(w.actors))]
	if rnd.IntN(2) == 0 { // a running task has more legal operations
		if t := w.c.Current(rnd.IntN(w.cfg.Slots)); t != nil {
			a = w.find(w.nameOf(t))
		}
	}
	switch o.verb {
	case "rank":
		o.rank = randomRank(rnd)
	case "discount":
		o.rank, o.d = int64(rnd.IntN(2)), time.Duration(rnd.IntN(3000))*time.Microsecond
	case "nest":
		o.with, o.kind = name(), Kind(rnd.IntN(4))
	case "unnest":
		if a.inner != nil {
			o.with = a.inner.name
		} else if a.outer != nil {
			a, o.with = a.outer, a.name
		}
	}
	o.task = a.name
	return o
}

// randomRank draws ranks, often equal ones, and the extremes.
func randomRank(rnd *rand.Rand) int64 {
	return []int64{0, 0, 0, 1, 1, 2, 3, -1, math.MaxInt64, math.MinInt64}[rnd.IntN(10)]
}

// drain lets every task come back and end, without new tasks: invariants 8 and 9 without a clock.
// Each round ends all running tasks; after as many rounds as there are tasks, none may be left.
func (w *world) drain() error {
	do := func(o op) error {
		if w.legal(o) == "" {
			if _, err := w.do(o); err != nil {
				return fmt.Errorf("drain: %v: %w", o, err)
			}
		}
		return nil
	}
	for w.holds > 0 {
		if err := do(op{verb: "release"}); err != nil {
			return err
		}
	}
	for round, n := 0, 2*len(w.actors); len(w.actors) > 0; round++ {
		if round > n {
			return fmt.Errorf("drain: left over after all others ended: %v", w)
		}
		for _, a := range append([]*actor{}, w.actors...) {
			for _, o := range []op{{verb: "unblock", task: a.name}, {verb: "exit", task: a.name}} {
				if a.outer != nil && o.verb == "exit" {
					o = op{verb: "unnest", task: a.outer.name, with: a.name}
				}
				if err := do(o); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func TestExplore(t *testing.T) {
	const long = 500
	most := *steps
	if most == 0 {
		most = longtest.Count(100_000, 40_000)
	}
	for n, s := 0, *seed; n < most; n, s = n+long, s+1 {
		r, err := randomRun(rand.New(rand.NewPCG(s, 0)), long)
		if err == nil {
			continue
		}
		small := r.shrunk()
		t.Fatalf("seed %d: %v\nthe shortest way there, ending in %q:\n%v", s, err, small.replay(), small)
	}
}
