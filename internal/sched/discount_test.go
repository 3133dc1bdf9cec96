package sched

import "testing"

// TestDiscountTwice checks that an account never falls, also when two callers have read the clock
// in one order and got the loop's lock in the other: the earlier time finds nothing left to
// subtract.
func TestDiscountTwice(t *testing.T) {
	for _, blocked := range []bool{true, false} {
		c := NewCore(Config{Slots: 1})
		var a Task
		a.Reset(Atomic)
		c.Arrive(&a, 100)
		a.Discount(1000, blocked, 500)
		before := a.Account(500)
		a.Discount(50, blocked, 300)
		if got := a.Account(500); got != before {
			t.Errorf("blocked %v: the account is %+v, was %+v", blocked, got, before)
		}
	}
}

// Count takes the time that it adds from the time that counts as blocked, also from a wait that
// goes on, and no more than there is.
func TestCount(t *testing.T) {
	c := NewCore(Config{Slots: 1})
	var a Task
	a.Reset(Atomic)
	c.Arrive(&a, 0)
	if added := a.Count(10, 50); added != 0 {
		t.Errorf("added %d to a task that has never waited", added)
	}
	c.Block(&a, 100)
	for _, want := range []int64{30, 20, 0} {
		if added := a.Count(30, 150); added != want {
			t.Errorf("added %d, want %d", added, want)
		}
	}
	if got := a.Account(200); got.Running != 150 || got.Blocked != 50 {
		t.Errorf("after 100 of running and 100 of waiting, with 50 counted: %+v", got)
	}
}
