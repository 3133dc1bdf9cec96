package ir

import "github.com/cocoon-go/cocoon/stubs"

// Relation is a fact about two state stubs that one evaluation reads, of the same task, class,
// tenant or loop.
type Relation struct {
	Of, To stubs.ID
	Kind   RelationKind
	Why    string // "a task that runs has arrived"
}

// RelationKind is the kind of a Relation.
type RelationKind uint8

// The kinds of relations.
const (
	AtMost    RelationKind = iota // Of is never greater than To
	Mostly                        // the same, but for moments: only for warnings
	ZeroWhile                     // Of is 0 while To is 0 or empty
)

// Relations lists the relations that always hold.
var Relations = []Relation{
	{stubs.ClassBusy, stubs.ClassTasks, AtMost, "class.tasks counts the tasks that run, too"},
	{stubs.ClassQueued, stubs.ClassTasks, AtMost, "class.tasks counts the tasks that wait, too"},
	{stubs.TenantBusy, stubs.TenantTasks, AtMost, "tenant.tasks counts the tasks that run, too"},
	{stubs.TenantQueued, stubs.TenantTasks, AtMost, "tenant.tasks counts the tasks that wait, too"},
	{stubs.ClassTasks, stubs.RuntimeTasks, AtMost, "runtime.tasks counts the tasks of all names"},
	{stubs.TenantTasks, stubs.RuntimeTasks, AtMost, "runtime.tasks counts the tasks of all tenants"},
	{stubs.ClassQueued, stubs.QueueLength, AtMost, "queue.length counts the waiting tasks of all names"},
	{stubs.TenantQueued, stubs.QueueLength, AtMost, "queue.length counts the waiting tasks of all tenants"},
	{stubs.QueueSafe, stubs.QueueLength, AtMost, "queue.length counts all waiting tasks"},
	{stubs.LoopBusy, stubs.LoopSlots, Mostly, "loop.busy counts slots, and a full loop has loop.busy == loop.slots"},
	{stubs.TaskRunning, stubs.TaskElapsed, AtMost, "task.elapsed includes the time that the task has run"},
	{stubs.TaskWaited, stubs.TaskElapsed, AtMost, "task.elapsed includes the time that the task has waited"},
	{stubs.TaskBlocked, stubs.TaskElapsed, AtMost, "task.elapsed includes the time that the task was blocked"},
	{stubs.TaskSlice, stubs.TaskElapsed, AtMost, "task.elapsed includes the time in the slot"},
	{stubs.TaskSectionRunning, stubs.TaskRunning, AtMost, "task.running includes the time inside sections"},
	{stubs.TaskSections, stubs.TaskRunning, AtMost, "task.running includes the time inside sections"},
	{stubs.QueueOldest, stubs.QueueLength, ZeroWhile, "no task waits"},
	{stubs.QueueCost, stubs.QueueLength, ZeroWhile, "no task waits"},
	{stubs.TaskSectionRunning, stubs.TaskSection, ZeroWhile, "no section is open"},
	{stubs.TaskSections, stubs.TaskSection, ZeroWhile, "no section is open"},
}
