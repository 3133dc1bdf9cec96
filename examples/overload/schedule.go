package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

const (
	// calmShare is the load before the surge, as a share of the capacity.
	calmShare = 0.6

	// reportLead is how long before the surge a report of 200 ms arrives, so that one runs when it
	// begins.
	reportLead = 60 * time.Millisecond
)

// load is the configuration of a generator process.
type load struct {
	Address  string
	Hashes   int     // of a piece of work
	Calm     float64 // requests a second before the surge
	Surge    float64 // requests a second in the surge
	Burst    int     // requests that arrive at once when it begins
	WarmUp   time.Duration
	Duration time.Duration // of the surge
	Seed     uint64
}

// request is one entry of the schedule.
type request struct {
	at     time.Duration // its intended start, since the generator's start
	class  int
	tenant string
	pieces int
}

func (r request) cost() time.Duration { return time.Duration(r.pieces) * piece }

func makeRequest(at time.Duration, class int, random *rand.Rand) request {
	r := request{at: at, class: class, tenant: free, pieces: int(classes[class].cost(random) / piece)}
	if random.Float64() < classes[class].paid {
		r.tenant = paying
	}
	return r
}

// schedule draws the requests of a load in the order of their start, the same for equal seeds: a
// Poisson process until the surge, a report shortly before it, a burst, and a Poisson process in
// the surge.
func (l load) schedule() []request {
	var all []request
	loadtest.Poisson(l.Seed, 0, l.Calm, l.WarmUp, func(at time.Duration, random *rand.Rand) {
		all = append(all, makeRequest(at, drawClass(random), random))
	})
	all = append(all, request{at: max(0, l.WarmUp-reportLead), class: len(classes) - 1, tenant: free, pieces: int(reportCost / piece)})
	random := rand.New(rand.NewPCG(l.Seed, 1))
	for range l.Burst {
		all = append(all, makeRequest(l.WarmUp, drawClass(random), random))
	}
	loadtest.Poisson(l.Seed, 2, l.Surge, l.Duration, func(at time.Duration, random *rand.Rand) {
		all = append(all, makeRequest(l.WarmUp+at, drawClass(random), random))
	})
	slices.SortStableFunc(all, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	return all
}
