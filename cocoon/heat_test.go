package cocoon

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// Each line is a step: at a time in ms there is a need, or a call of cool.
func TestHeatScenarios(t *testing.T) {
	type step struct {
		at   int64 // ms
		need bool
		hot  bool  // afterwards
		next int64 // ms until which it stays hot
	}
	for name, steps := range map[string][]step{
		"cold without a need": {{1, false, false, 0}, {5000, false, false, 0}},
		"one need":            {{1, true, true, 1001}, {1000, false, true, 1001}, {1001, false, false, 0}},
		"needs prolong it": {
			{1, true, true, 1001}, {900, true, true, 1900}, {1001, false, true, 1900}, {1900, false, false, 0},
		},
		"a need that comes late": {{100, true, true, 1100}, {50, true, true, 1100}, {1100, false, false, 0}},
		"again soon, twice as long": {
			{1, true, true, 1001}, {1001, false, false, 0},
			{2000, true, true, 4000}, {4000, false, false, 0},
			{4001, true, true, 8001}, {8001, false, false, 0},
		},
		"again after a while, as at first": {
			{1, true, true, 1001}, {1001, false, false, 0},
			{2000, true, true, 4000}, {4000, false, false, 0},
			{12_000, true, true, 13_000}, {13_000, false, false, 0},
		},
	} {
		t.Run(name, func(t *testing.T) {
			var h heat
			for _, s := range steps {
				now := s.at * int64(time.Millisecond)
				if s.need {
					if was := h.hot; h.need(now) == was {
						t.Errorf("at %d ms: need reports a change from %v to %v", s.at, was, h.hot)
					}
				}
				was := h.hot
				change, next := h.cool(now)
				if change != (was && !h.hot) {
					t.Errorf("at %d ms: cool reports %v", s.at, change)
				}
				if want := s.next * int64(time.Millisecond); h.hot && next != want || !h.hot && next != notify.Never {
					t.Errorf("at %d ms: ask again at %v; want %v", s.at, time.Duration(next), time.Duration(want))
				}
				if h.hot != s.hot {
					t.Fatalf("at %d ms: hot is %v; want %v", s.at, h.hot, s.hot)
				}
			}
		})
	}
}

// For all inputs: a need makes it hot; it stays hot for minStay after the last need and never
// longer than maxStay; and it changes so rarely that the changes cost nothing: on average less than
// twice per minStay.
func TestHeatExplored(t *testing.T) {
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 1))
		var h heat
		now, needed, changes, first := int64(1), int64(0), int64(0), int64(0)
		scale := int64(1) << (18 + random.IntN(16)) // 0.26 ms to 8 s
		for range 500 {
			now += 1 + random.Int64N(scale)
			if random.IntN(3) == 0 {
				if needed = now; h.need(now) {
					if changes++; first == 0 {
						first = now
					}
				}
				if !h.hot {
					t.Fatalf("seed %d: cold after a need", seed)
				}
				continue
			}
			was := h.hot
			change, next := h.cool(now)
			switch {
			case change && (now-needed < minStay || !was):
				t.Fatalf("seed %d: cold %v after a need", seed, time.Duration(now-needed))
			case h.hot && (next <= now || next > needed+maxStay):
				t.Fatalf("seed %d: ask again in %v, the last need was %v ago", seed, time.Duration(next-now), time.Duration(now-needed))
			case h.hot && now-needed >= maxStay:
				t.Fatalf("seed %d: hot %v after the last need", seed, time.Duration(now-needed))
			}
		}
		if most := 1 + (now-first)/minStay; first != 0 && changes > most {
			t.Fatalf("seed %d: it became hot %d times within %v", seed, changes, time.Duration(now-first))
		}
	}
}

// If a load comes and goes in step with the cooling, it changes at most four times a minute after a
// few rounds.
func TestHeatFlapsSeldom(t *testing.T) {
	var h heat
	changes := 0
	const minute = int64(time.Minute)
	for now := int64(1); now < 10*minute; now += int64(10 * time.Millisecond) {
		if h.hot {
			h.cool(now)
		} else if h.need(now) && now > minute { // at the worst time: as soon as it is cold
			changes++
		}
	}
	if changes > 9*4 {
		t.Errorf("it became hot %d times in 9 minutes", changes)
	}
}
