package sched

import "testing"

// A loose task that has waited for Patience starts in place of a suspended task, and takes the slot
// of a preemptible one. A task that is not loose does neither, however long it waits.
func TestLooseTasksStartOverSuspendedOnes(t *testing.T) {
	for _, loose := range []bool{true, false} {
		c := NewCore(Config{Slots: 1, MaxBypass: 1000, Patience: 20})
		report, other, get := task(Preemptible), task(Atomic), task(Safe)
		other.Loose = loose
		if granted, _ := c.Arrive(report, 0); !granted {
			t.Fatal("the slot was free")
		}
		c.Arrive(other, 1)
		if c.Suspend(report, 20) {
			t.Errorf("loose %t: the report made place too early", loose)
		}
		if at, ok := c.ImpatientAt(); ok != loose || ok && at != 21 {
			t.Errorf("loose %t: impatient at %d, %t", loose, at, ok)
		}
		c.Arrive(get, 20)
		if !c.Suspend(report, 20) || get.State() != Running {
			t.Fatalf("loose %t: the get is %v", loose, get.State())
		}
		c.Exit(get, 21)
		first, second := report, other
		if loose {
			first, second = other, report
		}
		if first.State() != Running {
			t.Errorf("loose %t: at the end of the get the report is %v, the other %v", loose, report.State(), other.State())
		}
		c.Exit(first, 22)
		if second.State() != Running {
			t.Errorf("loose %t: at last the report is %v, the other %v", loose, report.State(), other.State())
		}
	}
}

// A safe task that came earlier starts first, and the suspended tasks get their share of the slot.
func TestLooseTasksWaitForTheirTurn(t *testing.T) {
	c := NewCore(Config{Slots: 1, MaxBypass: 100, Patience: 20})
	report, get := task(Preemptible), task(Safe)
	c.Arrive(report, 0)
	c.Arrive(get, 0)
	var others [9]*Task
	for i := range others {
		others[i] = task(Atomic)
		others[i].Loose = true
		c.Arrive(others[i], 1)
	}
	if !c.Suspend(report, 30) || get.State() != Running {
		t.Fatalf("the get is %v", get.State())
	}
	running := get
	for now := int64(50); report.State() == Suspended; now += 20 {
		if now > 200 {
			t.Fatal("the report was passed over too long")
		}
		c.Exit(running, now)
		for _, o := range others {
			if o.State() == Running {
				running = o
			}
		}
	}
}

func task(k Kind) *Task {
	t := new(Task)
	t.Reset(k)
	return t
}
