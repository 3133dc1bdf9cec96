package sched

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// stream is an endless load: n of its tasks wait at any time.
type stream struct {
	name  string
	kinds []Kind
	work  time.Duration // of each task
	limit time.Duration // the time in which the victim must end: about twice the time that was seen
	rank  int64         // of the victim; the load's tasks have 0
	bg    bool          // the victim is a background task
}

// TestNoTaskStarves checks invariant 9: among an endless stream of safe tasks, or tasks of a lower
// rank, under a policy that switches out as many tasks as possible at every step, a task of each
// kind ends, whether it arrived first or last.
func TestNoTaskStarves(t *testing.T) {
	const both = Preemptible | Safe
	most := longtest.Count(3, 1)
	for _, s := range longtest.Cases([]stream{
		{"gets", []Kind{Safe}, 300 * time.Microsecond, 60 * time.Millisecond, 0, false},
		{"long gets", []Kind{Safe}, 7 * time.Millisecond, 200 * time.Millisecond, 0, false},
		{"both", []Kind{both}, 300 * time.Microsecond, 100 * time.Millisecond, 0, false},
		{"gets of a lower rank", []Kind{Safe}, 300 * time.Microsecond, 240 * time.Millisecond, 1, false},
		{"all kinds of a lower rank", []Kind{Atomic, Safe, Preemptible, both}, 300 * time.Microsecond, 500 * time.Millisecond, 1, false},
		{"the background of gets", []Kind{Safe}, 300 * time.Microsecond, 240 * time.Millisecond, 0, true},
		{"the background of both", []Kind{both}, 300 * time.Microsecond, 400 * time.Millisecond, 0, true},
		{"the background of all", []Kind{Atomic, Safe, Preemptible, both}, 300 * time.Microsecond, 500 * time.Millisecond, 0, true},
		{"long both", []Kind{both}, 30 * time.Millisecond, 1500 * time.Millisecond, 0, false},
		{"gets and long both", []Kind{Safe, both}, 30 * time.Millisecond, 7 * time.Second, 0, false},
		{"the background of gets and long both", []Kind{Safe, both}, 30 * time.Millisecond, 7 * time.Second, 0, true},
	}, 8) { // the last ones take most of the time
		for slots := 1; slots <= most; slots++ {
			for k := Atomic; k <= both; k++ {
				for _, first := range []bool{true, false} {
					t.Run(fmt.Sprintf("%s/%d slots/%s/first=%t", s.name, slots, kindNames[k], first), func(t *testing.T) {
						t.Parallel()
						took, preempted := endure(t, s, slots, k, first)
						if k&Preemptible == 0 && preempted > 0 {
							t.Errorf("switched out %d times", preempted)
						}
						t.Log(took)
					})
				}
			}
		}
	}
}

// endure returns how long a task of kind k with 5 ms of work took to end in the stream, and how
// often it was switched out.
func endure(t *testing.T, s stream, slots int, k Kind, first bool) (took time.Duration, preempted int64) {
	const step = 100 * time.Microsecond
	w := newWorld(Config{Slots: slots, MaxBypass: int64(10 * time.Millisecond)})
	rnd := rand.New(rand.NewPCG(1, 2))
	left := map[*actor]time.Duration{}
	do := func(o op) {
		if _, err := w.do(o); err != nil {
			t.Fatalf("%v: %v", o, err)
		}
	}
	n := 0
	load := func() {
		for w.c.Load(w.now).Waiting < 8 {
			n++
			do(op{verb: "arrive", task: fmt.Sprint(n), kind: s.kinds[n%len(s.kinds)]})
			left[w.find(fmt.Sprint(n))] = s.work
		}
	}
	if !first {
		load()
		for range 300 { // the queue is already full when the victim arrives
			w.tick(rnd, left, step, do)
			load()
		}
	}
	do(op{verb: "arrive", task: "victim", kind: k, rank: s.rank, bg: s.bg})
	victim, came := w.find("victim"), w.now
	left[victim] = 5 * time.Millisecond
	for victim.State() != Done {
		load()
		w.tick(rnd, left, step, do)
		if took = time.Duration(w.now - came); took > s.limit {
			t.Fatalf("not ended after %v: %v", took, w)
		}
	}
	return took, victim.Account(w.now).Preemptions
}

// tick lets the running tasks work for a step, ends completed tasks, and switches out as many tasks
// as possible.
func (w *world) tick(rnd *rand.Rand, left map[*actor]time.Duration, step time.Duration, do func(op)) {
	do(op{verb: "advance", d: step})
	for _, i := range rnd.Perm(w.cfg.Slots) {
		c := w.c.Current(i)
		if c == nil {
			continue
		}
		a := w.find(w.nameOf(c))
		if left[a] -= step; left[a] <= 0 {
			delete(left, a)
			do(op{verb: "exit", task: a.name})
		} else {
			do(op{verb: "suspend", task: a.name})
		}
	}
}
