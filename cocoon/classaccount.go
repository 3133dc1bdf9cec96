package cocoon

import (
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/internal/sketch"
	"github.com/cocoon-go/cocoon/stubs"
)

// classAccount is what a loop has counted of the tasks of one name, for policies that read class.*.
type classAccount struct {
	sched.Tally
	id       stubs.NameID
	uses     int // how many of its tasks came, halved at times
	running  mean
	waited   mean
	sketches []*sketch.Sketch // by the meter's series; nil where nothing came yet
}

// maxClassAccounts bounds the accounts of a loop, for names may come from clients.
const maxClassAccounts = 1024

// accountOf returns the account of the tasks of a name, for one that comes. A name that is new when
// there are as many as may be gets that of a name without tasks which was used little, or has none
// of its own. Who sends ever new names so displaces names that came as seldom.
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

// Of so many accounts without tasks the least used makes room, and so many are looked at for them.
const (
	roomChoice = 8
	roomLooks  = 64
)

// leastUsed returns the least used of a few accounts without tasks, chosen at random; nil when it
// has found none.
func (m *meter) leastUsed() (least *classAccount) {
	looks, idle := 0, 0
	for _, a := range m.classes { // from a place that Go chooses at random
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

// crowdedOut returns how many names found no room. Called under the loop's lock.
func (m *meter) crowdedOut() int64 {
	if m == nil {
		return 0
	}
	return m.crowded
}

// sketch returns the account's sketch of a series, made when it is first needed.
func (a *classAccount) sketch(m *meter, i int) *sketch.Sketch {
	if a.sketches == nil {
		a.sketches = make([]*sketch.Sketch, len(m.series))
	}
	if a.sketches[i] == nil {
		a.sketches[i] = m.series[i].sketch()
	}
	return a.sketches[i]
}

// quantile returns the quantile that is read of the class. Called under the loop's lock.
func (a *classAccount) quantile(r *read, now int64) int64 {
	if r.series >= len(a.sketches) || a.sketches[r.series] == nil {
		return 0
	}
	return a.sketches[r.series].Quantile(now, r.place)
}

// ofClass returns a value of the class of the task in question: the arriving one, or else the task.
// It is 0 where there is no task.
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
	default: // stubs.ClassWait, stubs.ClassService
		return uint64(a.quantile(r, now))
	}
}
