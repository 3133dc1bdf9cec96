package stubs

import "strings"

// Event is a set of notification kinds.
type Event uint16

// The kinds of notifications.
const (
	Tick    Event = 1 << iota // a policy's interval has passed
	Enqueue                   // a task arrived
	Start                     // a task got its first slot
	Block                     // a task gave up its slot to wait
	Unblock                   // a blocked task is ready again
	Exit                      // a task ended that had a slot
	Leave                     // a task that waited for its first slot ended without one
	Custom                    // rt.Notify
)

// AnyEvent is every notification.
const AnyEvent = Tick | Enqueue | Start | Block | Unblock | Exit | Leave | Custom

// Ends are the notifications of a task's end, on which there is no task left to act on.
const Ends = Exit | Leave

var eventNames = []struct {
	event Event
	name  string
}{{Tick, "tick"}, {Enqueue, "enqueue"}, {Start, "start"}, {Block, "block"}, {Unblock, "unblock"}, {Exit, "exit"}, {Leave, "leave"}, {Custom, "custom"}}

// String lists the events of the set, joined by "+".
func (e Event) String() string {
	var parts []string
	for _, n := range eventNames {
		if e&n.event != 0 {
			parts = append(parts, n.name)
		}
	}
	return strings.Join(parts, "+")
}

// EventNamed returns the event with the given name, or 0.
func EventNamed(name string) Event {
	for _, n := range eventNames {
		if n.name == name {
			return n.event
		}
	}
	return 0
}

// ID is a state stub's place in the catalogue.
type ID uint8

// The state stubs. Each has the name of its path, as TaskRunning of task.running, and Catalogue
// describes it, in the same order. Stubs about the same part of the program stand together: other
// packages compare IDs to find the group of a stub, so a new one stands before the last of its
// group. CONTRIBUTING.md lists what else a new stub needs.
const (
	TaskName ID = iota
	TaskKind
	TaskSection
	TaskSectionRunning
	TaskSections
	TaskRunning
	TaskElapsed
	TaskWaited
	TaskBlocked
	TaskPreemptions
	TaskPriority
	TaskDeadline
	TaskCancelled
	TaskLabels
	TaskStack
	TaskBackground
	TaskSlice // the last of the task.* group
	ArrivingName
	ArrivingKind
	ArrivingPriority
	ArrivingDeadline
	ArrivingCost
	ArrivingRunning
	ArrivingVirtualTime
	ArrivingLabels // the last of the arriving.* group
	TenantName
	TenantTasks
	TenantQueued
	TenantBusy
	TenantRunning
	TenantRate
	TenantThrown // the last of the tenant.* group
	ClassTasks
	ClassQueued
	ClassBusy
	ClassRunningMean
	ClassWaitedMean
	ClassWait
	ClassService // the last of the class.* group
	QueueLength
	QueueSafe
	QueueSuspended
	QueueOldest
	QueueWait
	QueueCost
	LoopName
	LoopSlots
	LoopBusy
	LoopRate
	LoopService
	LoopUtilization // the last of the loop's
	RuntimeTasks
	RuntimeGoroutines
	RuntimeHeap
	RuntimeSchedLatency
	RuntimeCPU
	RuntimeUptime // the last of the runtime.* group
	ClockMinute
	ClockHour
	ClockWeekday // the last of the clock.* group
	EventName
	EventValue
	State        // state.NAME: type and word come from the registration
	StateRate    // rate("NAME", window)
	StateAverage // average("NAME", window)
	Draw         // of chance(p): a float, at least 0 and less than 1, drawn for each evaluation
)

// MaxStack is the greatest length of task.stack, the number of open sections that a policy can
// read, outermost first.
const MaxStack = 16

// KindNames are the values of task.kind and arriving.kind, in the order of the runtime's kind bits:
// 0 atomic, 1 preemptible, 2 safe, 3 both.
var KindNames = [4]string{"atomic", "preemptible", "safe", "both"}

// Kinds are the NameIDs of KindNames.
var Kinds = [4]NameID{Intern(KindNames[0]), Intern(KindNames[1]), Intern(KindNames[2]), Intern(KindNames[3])}

// Stub describes one state stub.
type Stub struct {
	ID    ID
	Path  string // "task.running"
	Type  Type
	Keyed bool  // read as path["key"], the key a constant
	Enum  bool  // a Name with the values of Kinds only
	Min   int64 // least value, for Integral types and Float
	Max   int64 // greatest value; for a list, its greatest length
	On    Event // the notifications on which it is set; on any other it is refused
	Doc   string

	Quantile bool // read as path(q) or path(q, window), both constants
}

// MaxRate is the greatest rate of arrivals, in tasks per second.
const MaxRate = 1 << 40

const unbounded = 1 << 62 // ≈ 146 years in nanoseconds: far from overflow when two are added

// Catalogue lists every state stub before State, indexed by ID. State has no entry, because its
// type and range come from the policy's declaration.
var Catalogue = []Stub{
	{ID: TaskName, Path: "task.name", Type: Name, On: AnyEvent, Doc: "the task's name"},
	{ID: TaskKind, Path: "task.kind", Type: Name, Enum: true, On: AnyEvent, Doc: `"atomic", "preemptible", "safe" or "both"`},
	{ID: TaskSection, Path: "task.section", Type: Name, On: AnyEvent, Doc: `the innermost open section, "" outside any`},
	{ID: TaskSectionRunning, Path: "task.section_running", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "running time inside the innermost open section"},
	{ID: TaskSections, Path: "task.sections", Type: Duration, Keyed: true, Max: unbounded, On: AnyEvent, Doc: "running time inside the open section of that name, at any depth; 0 when it is not open"},
	{ID: TaskRunning, Path: "task.running", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "time the task has run with a slot, without the time that samples find it waiting or without a processor, in all its slices and sections together; see task.slice and task.section_running"},
	{ID: TaskElapsed, Path: "task.elapsed", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "time since the task arrived"},
	{ID: TaskWaited, Path: "task.waited", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "time it waited for a slot, queued or suspended; it does not grow while the task runs"},
	{ID: TaskBlocked, Path: "task.blocked", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "time it was blocked"},
	{ID: TaskPreemptions, Path: "task.preemptions", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "how often it was switched out"},
	{ID: TaskPriority, Path: "task.priority", Type: Int, Min: -1 << 31, Max: 1<<31 - 1, On: AnyEvent, Doc: "its priority; greater is more urgent, 0 the default"},
	{ID: TaskDeadline, Path: "task.deadline", Type: Duration, Min: -unbounded, Max: unbounded, On: AnyEvent, Doc: "time left to its context's deadline, negative once past; the greatest duration when there is none, or none is known yet"},
	{ID: TaskCancelled, Path: "task.cancelled", Type: Bool, On: AnyEvent, Doc: "its context is known to have ended: the caller is gone"},
	{ID: TaskLabels, Path: "task.labels", Type: Name, Keyed: true, On: AnyEvent, Doc: `the label's value, "" when it is not set`},
	{ID: TaskStack, Path: "task.stack", Type: NameList, Max: MaxStack, On: AnyEvent, Doc: "the open sections, outermost first"},
	{ID: TaskBackground, Path: "task.background", Type: Bool, On: AnyEvent, Doc: "it is a background task, see background()"},
	{ID: TaskSlice, Path: "task.slice", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "time since it last got its slot; 0 while it has none"},
	{ID: ArrivingName, Path: "arriving.name", Type: Name, On: Enqueue, Doc: "the arriving task's name"},
	{ID: ArrivingKind, Path: "arriving.kind", Type: Name, Enum: true, On: Enqueue, Doc: "the arriving task's kind"},
	{ID: ArrivingPriority, Path: "arriving.priority", Type: Int, Min: -1 << 31, Max: 1<<31 - 1, On: Enqueue, Doc: "the arriving task's priority"},
	{ID: ArrivingDeadline, Path: "arriving.deadline", Type: Duration, Min: -unbounded, Max: unbounded, On: Enqueue, Doc: "time left to the arriving task's deadline"},
	{ID: ArrivingCost, Path: "arriving.cost", Type: Duration, Max: unbounded, On: Enqueue, Doc: "running time it is expected to take: declared by WithCost, or the average of its name; 0 when neither is known"},
	{ID: ArrivingRunning, Path: "arriving.running", Type: Duration, Max: unbounded, On: Enqueue, Doc: "time it has held a slot; 0, except for a task that returns from a block"},
	{ID: ArrivingVirtualTime, Path: "arriving.virtual_time", Type: Duration, Max: unbounded, On: Enqueue, Doc: "its place in virtual time, if the tenants share the slots"},
	{ID: ArrivingLabels, Path: "arriving.labels", Type: Name, Keyed: true, On: Enqueue, Doc: "the arriving task's label"},
	{ID: TenantName, Path: "tenant.name", Type: Name, On: AnyEvent, Doc: `the tenant's name, "" for all tasks without the label; "other" if it has no account of its own`},
	{ID: TenantTasks, Path: "tenant.tasks", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "its tasks on the loop that have not ended"},
	{ID: TenantQueued, Path: "tenant.queued", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "how many of them wait for a slot"},
	{ID: TenantBusy, Path: "tenant.busy", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "how many of them run"},
	{ID: TenantRunning, Path: "tenant.running", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "running time of all its tasks so far"},
	{ID: TenantRate, Path: "tenant.rate", Type: Float, Max: MaxRate, On: AnyEvent, Doc: "its tasks that arrive per second, averaged over about 10 s"},
	{ID: TenantThrown, Path: "tenant.thrown", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "how often policies threw into its tasks or refused them"},
	{ID: ClassTasks, Path: "class.tasks", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "tasks of one name on the loop that have not ended"},
	{ID: ClassQueued, Path: "class.queued", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "how many of them wait for a slot"},
	{ID: ClassBusy, Path: "class.busy", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "how many of them run"},
	{ID: ClassRunningMean, Path: "class.running_mean", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "running time of its tasks that have ended, averaged over about the last ten; 0 before the first"},
	{ID: ClassWaitedMean, Path: "class.waited_mean", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "time of its tasks in the queue, averaged in the same way"},
	{ID: ClassWait, Path: "class.wait", Type: Duration, Quantile: true, Max: unbounded, On: AnyEvent, Doc: "quantile of the time of its tasks in the queue"},
	{ID: ClassService, Path: "class.service", Type: Duration, Quantile: true, Max: unbounded, On: AnyEvent, Doc: "quantile of the running time of its tasks that have ended"},
	{ID: QueueLength, Path: "queue.length", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "tasks of the loop that wait for a slot, the arriving one included"},
	{ID: QueueSafe, Path: "queue.safe", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "how many of them are safe"},
	{ID: QueueSuspended, Path: "queue.suspended", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "tasks of the loop that are suspended half-way"},
	{ID: QueueOldest, Path: "queue.oldest", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "how long the oldest waiting task has waited; on start not the task that starts"},
	{ID: QueueWait, Path: "queue.wait", Type: Duration, Quantile: true, Max: unbounded, On: AnyEvent, Doc: "quantile of the time that the loop's tasks were in the queue"},
	{ID: QueueCost, Path: "queue.cost", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "running time still expected of the waiting tasks, all together; of each as in arriving.cost"},
	{ID: LoopName, Path: "loop.name", Type: Name, On: AnyEvent, Doc: "the loop's name"},
	{ID: LoopSlots, Path: "loop.slots", Type: Int, Min: 1, Max: 1 << 20, On: AnyEvent, Doc: "its number of slots"},
	{ID: LoopBusy, Path: "loop.busy", Type: Int, Max: 1 << 20, On: AnyEvent, Doc: "slots that are taken"},
	{ID: LoopRate, Path: "loop.rate", Type: Float, Max: MaxRate, On: AnyEvent, Doc: "tasks that arrive on it per second, averaged over about 10 s"},
	{ID: LoopService, Path: "loop.service", Type: Duration, Quantile: true, Max: unbounded, On: AnyEvent, Doc: "quantile of the running time of its tasks that have ended"},
	{ID: LoopUtilization, Path: "loop.utilization", Type: Float, Max: 1, On: AnyEvent, Doc: "share of slot time in use, 0 to 1, averaged over about 100 ms, or since it was last read if that is longer"},
	{ID: RuntimeTasks, Path: "runtime.tasks", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "tasks of the runtime that have not ended"},
	{ID: RuntimeGoroutines, Path: "runtime.goroutines", Type: Int, Max: 1 << 40, On: AnyEvent, Doc: "goroutines of the process, at most 10 ms ago"},
	{ID: RuntimeHeap, Path: "runtime.heap", Type: Bytes, Max: unbounded, On: AnyEvent, Doc: "live and unswept heap of the process, at most 10 ms ago"},
	{ID: RuntimeSchedLatency, Path: "runtime.sched_latency", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "how late the last timer tick came"},
	{ID: RuntimeCPU, Path: "runtime.cpu", Type: Float, Max: 1 << 20, On: AnyEvent, Doc: "processor time of the process per second, in cores, since the last reading, at least 10 ms"},
	{ID: RuntimeUptime, Path: "runtime.uptime", Type: Duration, Max: unbounded, On: AnyEvent, Doc: "time since the runtime was made"},
	{ID: ClockMinute, Path: "clock.minute", Type: Int, Max: 59, On: AnyEvent, Doc: "the minute of the hour, in the zone of the policy"},
	{ID: ClockHour, Path: "clock.hour", Type: Int, Max: 23, On: AnyEvent, Doc: "the hour of the day, in the zone of the policy"},
	{ID: ClockWeekday, Path: "clock.weekday", Type: Int, Max: 6, On: AnyEvent, Doc: "the day of the week, in the zone of the policy: 0 is Sunday, 6 Saturday"},
	{ID: EventName, Path: "event.name", Type: Name, On: Custom, Doc: "the name given to Notify"},
	{ID: EventValue, Path: "event.value", Type: Float, Min: -unbounded, Max: unbounded, On: Custom, Doc: "the value given to Notify"},
}

var byPath = func() map[string]*Stub {
	m := make(map[string]*Stub, len(Catalogue))
	for i := range Catalogue {
		m[Catalogue[i].Path] = &Catalogue[i]
	}
	return m
}()

// Lookup returns the stub with that path.
func Lookup(path string) (*Stub, bool) {
	s, ok := byPath[path]
	return s, ok
}
