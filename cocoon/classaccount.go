package cocoon

import (
	"github.com/cocoon-go/cocoon/internal/sketch"
	"github.com/cocoon-go/cocoon/stubs"
)

// maxClassAccounts is the greatest number of accounts of a loop. It is bounded because names may
// come from clients.
const maxClassAccounts = 1024

// accountOf returns the account for an arriving task's name. If the loop has the greatest number of
// accounts, a new name takes the account of a rarely used name without tasks, or has no account. So
// a client that sends ever new names displaces only equally rare names.
func (m *meter) accountOf(name stubs.NameID) *classAccount {
	if m.calls++; m.calls >= 16*maxClassAccounts {
		m.calls = 0
		for _, a := range m.classes {
			a.uses /= 2
		}
	}
	a := m.classes[name]
	switch {
	case a != nil:
	case len(m.classes) < maxClassAccounts:
		a = &classAccount{id: name}
		m.classes[name] = a
	default:
		m.crowded++
		if a = m.leastUsed(); a == nil {
			return m.rest
		}
		delete(m.classes, a.id)
		*a = classAccount{id: name}
		m.classes[name] = a
	}
	a.uses++
	return a
}

// The eviction chooses the least used of roomChoice accounts without tasks, and examines at most
// roomLooks accounts to find them.
const (
	roomChoice = 8
	roomLooks  = 64
)

// leastUsed returns the least used of a few accounts without tasks, chosen at random; nil if it
// finds none.
func (m *meter) leastUsed() (least *classAccount) {
	looks, idle := 0, 0
	for _, a := range m.classes { // Go starts at a random place
		if looks++; a.Live() == 0 {
			if idle++; least == nil || a.uses < least.uses {
				least = a
			}
		}
		if looks == roomLooks || idle == roomChoice {
			break
		}
	}
	return least
}

// crowdedOut returns the number of names without room for an account. Called under the loop's lock.
func (m *meter) crowdedOut() int64 {
	if m == nil {
		return 0
	}
	return m.crowded
}

// sketch returns the account's sketch of a series, allocated at its first use.
func (a *classAccount) sketch(m *meter, i int) *sketch.Sketch {
	if a.sketches == nil {
		a.sketches = make([]*sketch.Sketch, len(m.series))
	}
	if a.sketches[i] == nil {
		a.sketches[i] = m.series[i].sketch()
	}
	return a.sketches[i]
}

// quantile returns the quantile of the class that r reads. Called under the loop's lock.
func (a *classAccount) quantile(r *read, now int64) int64 {
	if r.series >= len(a.sketches) || a.sketches[r.series] == nil {
		return 0
	}
	return a.sketches[r.series].Quantile(now, r.place)
}

// ofClass returns a value of the class of the arriving task on enqueue, or else of the task.
// Without a task it is 0.
func (v *view) ofClass(r *read, now int64) uint64 {
	s := v.subject()
	if s == nil || s.class == nil {
		return 0
	}
	switch a := s.class; r.stub {
	case stubs.ClassTasks:
		return uint64(a.Live())
	case stubs.ClassQueued:
		return uint64(a.Waiting())
	case stubs.ClassBusy:
		return uint64(a.Busy())
	case stubs.ClassRunningMean:
		return uint64(a.running.ns)
	case stubs.ClassWaitedMean:
		return uint64(a.waited.ns)
	case stubs.ClassWait, stubs.ClassService:
		return uint64(a.quantile(r, now))
	}
	panic(valueless)
}
