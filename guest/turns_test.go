package guest

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestTurns(t *testing.T) {
	var u turns[int]
	expect := func(what string, got, want any) {
		t.Helper()
		if got != want {
			t.Errorf("%s: got %v, want %v", what, got, want)
		}
	}
	expect("1 asks", u.ask(1), true)
	expect("2 asks", u.ask(2), false)
	expect("3 asks", u.ask(3), false)
	expect("1 passes", u.pass(1), 2)
	expect("2 passes", u.pass(2), 3)
	expect("4 insists", u.insist(4), false)
	expect("5 insists", u.insist(5), false)
	expect("3 leaves", u.leave(), 4)
	u.paused = true
	expect("6 asks", u.ask(6), false)
	expect("4 leaves", u.leave(), 5)
	expect("5 leaves, paused", u.leave(), 0)
	expect("7 asks a free turn, paused", u.ask(7), false)
	expect("8 insists, paused", u.insist(8), true)
	expect("8 leaves", u.leave(), 0)
	u.paused = false
	u.withdraw(1)
	u.withdraw(2)
	u.withdraw(2)
	expect("resumed", u.grant(), 6)
	expect("again", u.grant(), 0)
	expect("6 leaves", u.leave(), 7)
	expect("7 passes alone", u.pass(7), 7)
	expect("7 leaves", u.leave(), 0)
}

// TestTurnsAtRandom: whatever threads do, at most one has the turn, no thread that waits is lost,
// and a thread that asks before another one has the turn before it.
func TestTurnsAtRandom(t *testing.T) {
	for seed := range uint64(2000) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var u turns[int]
		if seed%2 == 1 {
			u.rng = rand.New(rand.NewPCG(seed, 2))
		}
		var queue []int // of threads that asked, in order
		granted := func(v int) {
			if v == 0 {
				return
			}
			i := slices.Index(queue, v)
			if i < 0 {
				t.Fatalf("seed %d: %d has the turn, and did not ask", seed, v)
			}
			if u.rng == nil && i != 0 {
				t.Fatalf("seed %d: %d has the turn before %v", seed, v, queue[:i])
			}
			queue = slices.Delete(queue, i, i+1)
		}
		next := 0
		for range 60 {
			switch rng.IntN(5) {
			case 0, 1:
				if next++; u.ask(next) {
					if u.holder != next || len(queue) > 0 {
						t.Fatalf("seed %d: %d overtakes %v", seed, next, queue)
					}
				} else {
					queue = append(queue, next)
				}
			case 2:
				if u.holder != 0 {
					granted(u.leave())
				}
			case 3:
				if h := u.holder; h != 0 {
					if v := u.pass(h); v != h {
						queue = append(queue, h)
						granted(v)
					}
				}
			case 4:
				if len(queue) > 0 {
					i := rng.IntN(len(queue))
					u.withdraw(queue[i])
					queue = slices.Delete(queue, i, i+1)
				}
			}
			if u.holder == 0 && len(queue) > 0 {
				t.Fatalf("seed %d: the turn is free, and %v wait", seed, queue)
			}
		}
	}
}
