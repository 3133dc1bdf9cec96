package sched

import "testing"

// TestRested checks that a rest has the effect of giving the slot up and regaining it, except on
// the slot.
func TestRested(t *testing.T) {
	c, g := NewCore(Config{Slots: 1}), &Group{}
	var a Task
	a.Reset(Atomic)
	a.Group = g
	c.Arrive(&a, 100)
	c.Rested(&a, 30, 150)
	if got, want := a.Account(160), (Account{Running: 30, Blocked: 30}); got != want {
		t.Errorf("account is %+v, want %+v", got, want)
	}
	if a.Since() != 150 || a.State() != Running || !c.Full() {
		t.Errorf("it is %v since %d", a.State(), a.Since())
	}
	c.Rested(&a, 1000, 170) // no more than it had run
	c.Exit(&a, 200)
	if got, want := a.Account(200), (Account{Running: 30, Blocked: 70}); got != want {
		t.Errorf("account is %+v, want %+v", got, want)
	}
	if l := c.Load(300); l.BusyTime != 30 || g.Running(300) != 30 || c.Full() {
		t.Errorf("busy for %d, the group ran for %d; want 30", l.BusyTime, g.Running(300))
	}
}
