package cocoon

import (
	"math"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/stubs"
)

// view is what a policy looks at: a loop, the task in question, the one that arrives, the event.
// Each loop has one, used under its lock.
type view struct {
	task     *strand
	arriving *strand
	event    stubs.NameID
	text     string // of the event's name
	value    float64

	haveSections bool
	open         []seenSection
	buf          [stubs.MaxStack]seenSection
}

// about sets the tasks in question; either may be nil.
func (v *view) about(task, arriving *strand) {
	v.task, v.arriving = task, arriving
	v.haveSections = false
}

// subject returns the task that a log line is about.
func (v *view) subject() *strand {
	if v.arriving != nil {
		return v.arriving
	}
	return v.task
}

// sections returns the task's open sections, read once an evaluation.
func (v *view) sections() []seenSection {
	if !v.haveSections {
		v.open = v.task.sections.read(&v.buf)
		v.haveSections = true
	}
	return v.open
}

// greatest is the greatest duration that the catalogue allows: the analyzer's proofs rest on it.
// Policies see it of a task without a deadline.
const greatest = 1 << 62

// fill writes the snapshot that a policy reads, but for the states.
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
		case r.stub == stubs.EventName:
			words[r.offset] = uint64(v.event)
		case r.stub == stubs.EventValue:
			words[r.offset] = math.Float64bits(v.value)
		default: // patternRead
			words[r.offset] = stubs.FromBool(v.selected(l, r))
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

// ofTask returns a value of the task in question; without one, a value that says nothing, and still
// is one that the catalogue allows: the analyzer's proofs rest on that.
func (v *view) ofTask(r *read, now int64) uint64 {
	s := v.task
	if s == nil {
		switch r.stub {
		case stubs.TaskDeadline:
			return greatest
		case stubs.TaskKind:
			return uint64(stubs.Kinds[Atomic])
		case patternRead:
			return stubs.FromBool(r.selector.selects(""))
		}
		return 0
	}
	switch r.stub {
	case stubs.TaskName:
		return uint64(s.task.class.id)
	case stubs.TaskKind:
		return uint64(stubs.Kinds[s.core.Kind])
	case patternRead: // of what is fixed
		return stubs.FromBool(v.selected(s.loop, r))
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
		for _, o := range open { // the outermost of that name: it has run longest
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

// ofTenant returns a value of the account of the tenant in question: the arriving task's, or else
// the task's.
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

// ofLoop returns a value of the loop. Called under the loop's lock.
func (l *Loop) ofLoop(r *read, now int64) uint64 {
	switch r.stub {
	case stubs.LoopName:
		return uint64(l.name)
	case stubs.LoopUtilization:
		return math.Float64bits(l.utilization(now))
	case stubs.QueueLength:
		return uint64(l.core.Waiting())
	case stubs.QueueSafe:
		return uint64(l.core.WaitingSafe())
	case stubs.QueueSuspended:
		return uint64(l.core.Suspended())
	case stubs.QueueOldest:
		return uint64(l.core.Oldest(now))
	case stubs.QueueCost:
		return uint64(l.core.Expected())
	case stubs.QueueWait, stubs.LoopService:
		return uint64(l.meter.quantile(r, now))
	case stubs.LoopRate:
		return math.Float64bits(l.meter.rate(now))
	case stubs.LoopSlots:
		return uint64(l.core.Slots())
	default: // stubs.LoopBusy
		return uint64(l.load(now).Busy)
	}
}

// ofRuntime returns a value of the runtime and the process, as sampled.
func (rt *Runtime) ofRuntime(id stubs.ID, now int64) uint64 {
	switch id {
	case stubs.RuntimeTasks:
		return uint64(rt.alive())
	case stubs.RuntimeGoroutines:
		rt.sample.renew(now)
		return rt.sample.goroutines.Load()
	case stubs.RuntimeHeap:
		rt.sample.renew(now)
		return rt.sample.heap.Load()
	case stubs.RuntimeSchedLatency:
		return uint64(rt.sample.late.Load())
	case stubs.RuntimeUptime:
		return uint64(max(0, now-rt.made))
	default: // stubs.RuntimeCPU
		rt.sample.renew(now)
		return rt.sample.cpu.Load()
	}
}
