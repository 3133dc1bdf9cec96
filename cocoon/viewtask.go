package cocoon

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/stubs"
)

// ofNoTask returns a neutral value for a value of the task when there is none. It is within the
// range of the catalogue, on which the analyzer's proofs depend.
func (r *read) ofNoTask() uint64 {
	switch r.stub {
	case stubs.TaskDeadline:
		return greatest
	case stubs.TaskKind:
		return uint64(stubs.Kinds[Atomic])
	case textRead:
		return r.ofText("")
	}
	return 0
}

// ofTask returns a value of the task in question.
func (v *view) ofTask(r *read, now int64) uint64 {
	s := v.task
	if s == nil {
		return r.ofNoTask()
	}
	switch r.stub {
	case stubs.TaskName:
		return uint64(s.task.class.id)
	case stubs.TaskKind:
		return uint64(stubs.Kinds[s.core.Kind])
	case textRead: // of what is fixed
		return v.taken(s.loop, r)
	case stubs.TaskPriority:
		return uint64(int64(s.task.attrs.prio()))
	case stubs.TaskLabels:
		return uint64(s.task.attrs.lookup(r.key))
	case stubs.TaskDeadline:
		return uint64(s.deadline(now))
	case stubs.TaskCancelled:
		return stubs.FromBool(s.cancelled())
	case stubs.TaskBackground:
		return stubs.FromBool(s.core.Background())
	case stubs.TaskElapsed:
		return uint64(max(0, now-s.core.Arrived()))
	case stubs.TaskSlice:
		if st := s.core.State(); st == sched.Running || st == sched.Lent {
			return uint64(max(0, now-s.core.Since()))
		}
		return 0
	case stubs.TaskSection, stubs.TaskSectionRunning, stubs.TaskSections:
		return v.ofSection(r, now)
	}
	a := s.core.Account(now)
	switch r.stub {
	case stubs.TaskRunning:
		return uint64(a.Running)
	case stubs.TaskWaited:
		return uint64(a.Queued + a.Suspended)
	case stubs.TaskBlocked:
		return uint64(a.Blocked)
	case stubs.TaskPreemptions:
		return uint64(a.Preemptions)
	}
	panic(valueless)
}

func (v *view) ofSection(r *read, now int64) uint64 {
	open := v.sections()
	running := v.task.core.Ran(now)
	if r.stub == stubs.TaskSections {
		for _, o := range open { // the outermost section of that name has run longest
			if r.matches(o.name, v.task.loop.rt) {
				return uint64(max(0, running-o.start))
			}
		}
		return 0
	}
	if len(open) == 0 {
		return 0
	}
	last := open[len(open)-1]
	if r.stub == stubs.TaskSection {
		return uint64(last.name.id)
	}
	return uint64(max(0, running-last.start))
}

func (v *view) ofArriving(r *read, now int64) uint64 {
	s := v.arriving
	switch r.stub {
	case stubs.ArrivingName:
		return uint64(s.task.class.id)
	case stubs.ArrivingKind:
		return uint64(stubs.Kinds[s.core.Kind])
	case stubs.ArrivingPriority:
		return uint64(int64(s.task.attrs.prio()))
	case stubs.ArrivingLabels:
		return uint64(s.task.attrs.lookup(r.key))
	case stubs.ArrivingCost:
		return uint64(s.task.cost())
	case stubs.ArrivingRunning:
		return uint64(s.core.Ran(now))
	case stubs.ArrivingVirtualTime:
		return uint64(s.core.Tag())
	case stubs.ArrivingDeadline:
		return uint64(s.deadline(now))
	}
	panic(valueless)
}

// ofFixed returns a fixed value of the tasks in view.
func (v *view) ofFixed(l *Loop, r *read) uint64 {
	switch {
	case r.stub == textRead:
		return v.taken(l, r)
	case stubs.ArrivingName <= r.stub && r.stub <= stubs.ArrivingLabels:
		return v.ofArriving(r, 0)
	}
	return v.ofTask(r, 0)
}

// ofTenant returns a value of the account of the tenant in question: the arriving task's, or
// otherwise the running task's.
func (v *view) ofTenant(id stubs.ID, now int64) uint64 {
	s := v.subject()
	if s == nil || s.tenant == nil {
		return 0
	}
	switch t := s.tenant; id {
	case stubs.TenantName:
		return uint64(t.id)
	case stubs.TenantTasks:
		return uint64(t.Live())
	case stubs.TenantQueued:
		return uint64(t.Waiting())
	case stubs.TenantBusy:
		return uint64(t.Busy())
	case stubs.TenantRunning:
		return uint64(t.Running(now))
	case stubs.TenantRate:
		return math.Float64bits(t.arrived.value(now))
	case stubs.TenantThrown:
		return uint64(t.thrown)
	}
	panic(valueless)
}
