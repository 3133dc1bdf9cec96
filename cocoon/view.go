package cocoon

import (
	"math"
	"time"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/stubs"
)

// view is what a policy sees: a loop, the task in question, the arriving task, the event. Each loop
// has one, used under its lock.
type view struct {
	task     *strand
	arriving *strand
	event    stubs.NameID
	text     string // of the event's name
	value    float64

	wall   time.Time // the time of day
	wallOf int64     // when it was read

	haveSections bool
	open         []seenSection
	buf          [stubs.MaxStack]seenSection
}

// about sets the tasks in question. Either may be nil.
func (v *view) about(task, arriving *strand) {
	v.task, v.arriving = task, arriving
	v.haveSections = false
}

// subject returns the task to name in a log line.
func (v *view) subject() *strand {
	if v.arriving != nil {
		return v.arriving
	}
	return v.task
}

// sections returns the task's open sections. They are read once per evaluation.
func (v *view) sections() []seenSection {
	if !v.haveSections {
		v.open = v.task.sections.read(&v.buf)
		v.haveSections = true
	}
	return v.open
}

// greatest is the greatest duration that the catalogue allows; the analyzer's proofs depend on it.
// Policies see it for a task without a deadline.
const greatest = 1 << 62

// fill writes the snapshot that a policy reads, except for the states.
func (v *view) fill(l *Loop, reads []read, words []uint64, now int64) {
	for i := range reads {
		r := &reads[i]
		switch {
		case r.stub == stubs.TaskStack:
			v.fillStack(words[r.offset : r.offset+r.words])
		case r.stub <= stubs.TaskSlice:
			words[r.offset] = v.ofTask(r, now)
		case r.stub <= stubs.ArrivingLabels:
			words[r.offset] = v.ofArriving(r, now)
		case r.stub <= stubs.TenantThrown:
			words[r.offset] = v.ofTenant(r.stub, now)
		case r.stub <= stubs.ClassService:
			words[r.offset] = v.ofClass(r, now)
		case r.stub <= stubs.LoopUtilization:
			words[r.offset] = l.ofLoop(r, now)
		case r.stub <= stubs.RuntimeUptime:
			words[r.offset] = l.rt.ofRuntime(r.stub, now)
		case r.stub <= stubs.ClockWeekday:
			words[r.offset] = v.ofClock(l, r, now)
		case r.stub == stubs.EventName:
			words[r.offset] = uint64(v.event)
		case r.stub == stubs.EventValue:
			words[r.offset] = math.Float64bits(v.value)
		default: // textRead
			words[r.offset] = v.taken(l, r)
		}
	}
}

func (v *view) fillStack(words []uint64) {
	words[0] = 0
	if v.task == nil {
		return
	}
	open := v.sections()
	words[0] = uint64(len(open))
	for i, o := range open {
		words[1+i] = uint64(o.name.id)
	}
}

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
	default: // stubs.TaskPreemptions
		return uint64(a.Preemptions)
	}
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
	default: // stubs.ArrivingDeadline
		return uint64(s.deadline(now))
	}
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
	default: // stubs.TenantThrown
		return uint64(t.thrown)
	}
}
