package main

import (
	"slices"
	"testing"
	"time"
)

var testLoad = load{
	Records: 2000, ScanRecords: 200, GetRate: 400, ScanRate: 100,
	WarmUp: 100 * time.Millisecond, Duration: 300 * time.Millisecond, Seed: 1,
}

func TestSchedule(t *testing.T) {
	l := testLoad
	l.Duration = 20 * time.Second
	all := l.schedule()
	count := map[kind]int{}
	for i, r := range all {
		count[r.kind]++
		if i > 0 && r.at < all[i-1].at {
			t.Fatalf("request %d starts at %v, before the one before it", i, r.at)
		}
		if r.kind == scan && r.from > 1800 || r.kind == get && r.from >= 2000 {
			t.Fatalf("%v from %d is outside of the database", r.kind, r.from)
		}
	}
	// Poisson: 8040 ± 90 and 2010 ± 45; a deviation of five standard deviations never occurs with a
	// fixed seed that has passed.
	if n := count[get]; n < 7600 || n > 8500 {
		t.Errorf("%d gets in 20.1 s at 400 a second", n)
	}
	if n := count[scan]; n < 1800 || n > 2250 {
		t.Errorf("%d scans in 20.1 s at 100 a second", n)
	}
	if count[usageReading] != 2 {
		t.Errorf("%d usage readings; want one at either end", count[usageReading])
	}
	if !slices.Equal(all, l.schedule()) {
		t.Error("the same load has two schedules")
	}
}

// TestScheduleOfGets checks that a mode without scans gets the same gets.
func TestScheduleOfGets(t *testing.T) {
	gets := func(l load) []request {
		return slices.DeleteFunc(l.schedule(), func(r request) bool { return r.kind == scan })
	}
	without := testLoad
	without.ScanRate = 0
	if !slices.Equal(gets(testLoad), without.schedule()) {
		t.Error("scans change the schedule of the gets")
	}
}
