package main

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

var testLoad = load{
	Hashes: 10, Calm: 100, Surge: 300, Burst: 20, WarmUp: 200 * time.Millisecond, Duration: 300 * time.Millisecond, Seed: 1,
}

func TestSchedule(t *testing.T) {
	l := testLoad
	l.WarmUp, l.Duration = 20*time.Second, 20*time.Second
	all := l.schedule()
	calm, surge, burst, lead := 0, 0, 0, 0
	for i, r := range all {
		switch {
		case i > 0 && r.at < all[i-1].at:
			t.Fatalf("request %d starts at %v, before the one before it", i, r.at)
		case r.pieces < 1 || r.pieces > maxPieces || r.tenant != paying && r.tenant != free:
			t.Fatalf("request %+v", r)
		case r.at == l.WarmUp-reportLead && r.pieces == maxPieces:
			lead++
		case r.at == l.WarmUp:
			burst++
		case r.at < l.WarmUp:
			calm++
		default:
			surge++
		}
	}
	// Poisson: 2000 ± 45 and 6000 ± 77; a deviation of five standard deviations never occurs with a
	// fixed seed that has passed.
	if calm < 1775 || calm > 2225 || surge < 5613 || surge > 6387 || burst != l.Burst || lead != 1 {
		t.Errorf("%d requests before the surge, %d reports before it, %d at its beginning, %d in it", calm, lead, burst, surge)
	}
	if !slices.Equal(all, l.schedule()) {
		t.Error("the same load has two schedules")
	}
	if l.Seed++; slices.Equal(all, l.schedule()) {
		t.Error("two seeds have one schedule")
	}
}

// TestClasses checks that the drawn requests have the shares and the costs that the classes
// declare, which determine the load.
func TestClasses(t *testing.T) {
	const n = 200_000
	random := rand.New(rand.NewPCG(7, 7))
	counts, paid := make([]int, len(classes)), make([]int, len(classes))
	costs := make([]time.Duration, len(classes))
	for range n {
		c := drawClass(random)
		r := makeRequest(0, c, random)
		counts[c]++
		costs[c] += r.cost()
		if r.tenant == paying {
			paid[c]++
		}
		if timeFor(r.cost()) <= r.cost() {
			t.Fatalf("a request of %v has %v", r.cost(), timeFor(r.cost()))
		}
	}
	for i, c := range classes {
		if share := float64(counts[i]) / n; math.Abs(share-c.share) > 0.01 {
			t.Errorf("class %s is %.3f of the requests; declared is %.3f", c.name, share, c.share)
		}
		if share := float64(paid[i]) / float64(counts[i]); math.Abs(share-c.paid) > 0.02 {
			t.Errorf("%.3f of class %s are paid; declared is %.3f", share, c.name, c.paid)
		}
		if mean := costs[i] / time.Duration(counts[i]); math.Abs(float64(mean-c.mean)) > 0.03*float64(c.mean) {
			t.Errorf("class %s costs %v; declared is %v", c.name, mean, c.mean)
		}
	}
}
