package sched

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestClockJumps checks that a clock that goes back, or leaps by hours, affects only the order: no
// slot is lost or idle, every task ends, and no time is negative.
func TestClockJumps(t *testing.T) {
	for seed := range uint64(60) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		w := newWorld(Config{Slots: 1 + rnd.IntN(3), MaxBypass: int64(10 * time.Millisecond)})
		w.jumpy = true
		busy := int64(0)
		for range 400 {
			switch rnd.IntN(4) {
			case 0:
				w.now -= rnd.Int64N(int64(time.Second))
			case 1:
				w.now += rnd.Int64N(int64(24 * time.Hour))
			}
			o := randomOp(rnd, w, 20)
			if o.verb == "advance" || w.legal(o) != "" {
				continue
			}
			if _, err := w.do(o); err != nil {
				t.Fatalf("seed %d: %v: %v", seed, o, err)
			}
			l := w.c.Load(w.now)
			if l.Oldest < 0 || l.BusyTime < 0 {
				t.Fatalf("seed %d: %v: %+v", seed, o, l)
			}
			if now := w.c.busyTime; now < busy {
				t.Fatalf("seed %d: %v: the busy time went back from %d to %d", seed, o, busy, now)
			}
			busy = w.c.busyTime
			w.checkTimes(t)
		}
		if err := w.drain(); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

func (w *world) checkTimes(t *testing.T) {
	t.Helper()
	for _, a := range w.actors {
		if acc := a.Account(w.now); min(acc.Queued, acc.Running, acc.Suspended, acc.Blocked) < 0 {
			t.Fatalf("%s: %+v", a.name, acc)
		}
	}
	for name, g := range w.groups {
		if g.Running(w.now) < 0 || g.finish < 0 || g.finish > maxVirtual || g.Live() < 0 || g.Waiting() < 0 || g.Busy() < 0 {
			t.Fatalf("group %s: %+v", name, &g.Group)
		}
	}
}
