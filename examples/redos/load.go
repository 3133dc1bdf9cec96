package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// load is what the experiment tells a generator process.
type load struct {
	Address    string
	CasesFile  string // "": the built-in cases
	Cases      int    // that many of them, from the first
	Attacks    bool   // whether they are sent
	PingRate   float64
	AttackRate float64
	WarmUp     time.Duration // before the first attack, and before what is measured
	Patience   time.Duration // of the client of an attack, and of the benign question after it
	Seed       uint64
}

// end is when the schedule ends. It is the same with attacks and without.
func (l load) end() time.Duration { return l.attackAt(l.Cases) }

// attackAt is when a case's attack begins: they come evenly.
func (l load) attackAt(i int) time.Duration {
	return l.WarmUp + time.Duration(float64(i)/l.AttackRate*float64(time.Second))
}

// request is one entry of the schedule.
type request struct {
	at     time.Duration // its intended start, since the generator's
	attack int           // the index of the case; ping for a ping
}

const ping = -1

// schedule lists the requests in the order of their start: pings as a Poisson process, the same in
// every mode, and each case's attack.
func (l load) schedule() []request {
	var all []request
	loadtest.Poisson(l.Seed, 0, l.PingRate, l.end(), func(at time.Duration, _ *rand.Rand) {
		all = append(all, request{at, ping})
	})
	if l.Attacks {
		for i := range l.Cases {
			all = append(all, request{l.attackAt(i), i})
		}
	}
	slices.SortStableFunc(all, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	return all
}
