package main

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/loadtest"
)

// load is the configuration of a generator process.
type load struct {
	Address    string
	CasesFile  string // "": the built-in cases
	Cases      int    // how many of them, from the first
	Attacks    bool   // whether the attacks are sent
	PingRate   float64
	AttackRate float64
	WarmUp     time.Duration // before the first attack, and before the measured time
	Patience   time.Duration // how long the client waits for an attack or a benign question
	Seed       uint64
}

// end returns the end of the schedule. It is the same with and without attacks.
func (l load) end() time.Duration { return l.attackAt(l.Cases) }

// attackAt returns the time of a case's attack: the attacks are evenly spaced.
func (l load) attackAt(i int) time.Duration {
	return l.WarmUp + time.Duration(float64(i)/l.AttackRate*float64(time.Second))
}

// request is one entry of the schedule.
type request struct {
	at     time.Duration // its intended start, since the generator's start
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
