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
