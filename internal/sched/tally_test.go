package sched

import (
	"math"
	"testing"
)

// A task that is counted elsewhere, or nowhere, in the midst of its life leaves nothing behind.
func TestTallyChanges(t *testing.T) {
	c := NewCore(Config{Slots: 1})
	var one, other Tally
	a, b := new(Task), new(Task)
	a.Reset(Preemptible)
	b.Reset(Atomic)
	a.CountIn(&one)
	b.CountIn(&one)
	if one.Live() != 0 {
		t.Errorf("%+v before they arrive", one)
	}
	c.Arrive(a, 0)
	c.Arrive(b, 0)
	if one.Live() != 2 || one.Busy() != 1 || one.Waiting() != 1 {
		t.Errorf("%+v with one that runs and one that waits", one)
	}
	a.CountIn(&other)
	b.CountIn(nil)
	if one != (Tally{}) || other.Busy() != 1 || other.Live() != 1 {
		t.Errorf("%+v and %+v when one went over and one is counted nowhere", one, other)
	}
	c.Block(a, 5)
	c.Granted()
	b.CountIn(&one)
	c.Exit(b, 6)
	if one.Live() != 0 || one.Ended() != 1 || other.Live() != 1 || other.Busy() != 0 {
		t.Errorf("%+v and %+v at the end", one, other)
	}
}

// Whatever tasks declare, the sum does not overflow, and comes back to nothing.
func TestExpectedIsBounded(t *testing.T) {
	c := NewCore(Config{Slots: 1})
	c.Hold()
	tasks := make([]Task, 100)
	for i := range tasks {
		tasks[i].Reset(Atomic)
		tasks[i].Expects = []int64{math.MaxInt64, math.MinInt64, 7}[i%3]
		c.Arrive(&tasks[i], 0)
		if got := c.Expected(); got != maxExpected {
			t.Fatalf("%d expected", got)
		}
	}
	for i := range tasks {
		if i%3 != 2 {
			c.Withdraw(&tasks[i], 0)
		}
	}
	if got := c.Expected(); got != 33*7 {
		t.Errorf("%d expected, want %d", got, 33*7)
	}
	c.Release(0)
	for i := range tasks {
		if tasks[i].State() == Running {
			c.Granted()
			c.Exit(&tasks[i], 0)
		}
	}
	if got := c.Expected(); got != 0 {
		t.Errorf("%d expected at the end", got)
	}
}
