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
	Address     string
	Records     int // in the database
	ScanRecords int // read by one scan
	GetRate     float64
	ScanRate    float64
	WarmUp      time.Duration // before the measured time
	Duration    time.Duration // of the measured time
	Seed        uint64
}

// request is one entry of the schedule.
type request struct {
	at   time.Duration // its intended start, since the generator's start
	kind kind
	from uint64 // of a get: the record
}

type kind uint8

const (
	get kind = iota
	scan
	usageReading // the server's processor time, at the start and the end of the measured time
)

func (k kind) String() string { return [...]string{"get", "scan", "usage"}[k] }

// schedule draws the requests of a load in the order of their start: two Poisson processes, the
// same for equal seeds, and the gets at the same times with and without scans.
func (l load) schedule() []request {
	end := l.WarmUp + l.Duration
	var all []request
	draw := func(kind kind, rate float64, choices int) {
		loadtest.Poisson(l.Seed, uint64(kind), rate, end, func(at time.Duration, random *rand.Rand) {
			all = append(all, request{at: at, kind: kind, from: random.Uint64N(uint64(choices))})
		})
	}
	draw(get, l.GetRate, l.Records)
	draw(scan, l.ScanRate, l.Records-l.ScanRecords+1)
	all = append(all, request{at: l.WarmUp, kind: usageReading}, request{at: end, kind: usageReading})
	slices.SortStableFunc(all, func(a, b request) int { return cmp.Compare(a.at, b.at) })
	return all
}
