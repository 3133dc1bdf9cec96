package cocoon

import (
	"context"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

type scopeKey struct{}

// scopeOf returns what ctx knows of Cocoon: the task it belongs to, and the attributes for tasks
// started from it.
func scopeOf(ctx context.Context) (*Task, *attrs) {
	switch ctx.(type) {
	case *taskContext, *attrContext:
	default:
		ctx, _ = ctx.Value(scopeKey{}).(context.Context)
	}
	switch c := ctx.(type) {
	case *taskContext:
		return c.task(), c.attrs
	case *attrContext:
		return c.task, c.attrs
	}
	return nil, nil
}

// attrs is an immutable list of attributes, newest first.
type attrs struct {
	next     *attrs
	what     attribute
	declared bool   // by a document, for the tasks of a name; what contexts give counts before it
	noted    uint32 // see note; read and written atomically
	label    stubs.NameID
	number   int64  // the priority, the cost in ns, or the label's value
	text     string // the label's value: a copy, for it may be part of a whole request
	within   *Task  // of a cost: for tasks that are started in this one, not for their children
}

type attribute uint8

const (
	priorityAttr attribute = iota
	labelAttr
	costAttr
)

// find returns the newest attribute of a sort that contexts give, and the newest that documents
// declare; nil where there is none.
func (a *attrs) find(what attribute, label stubs.NameID) (given, declared *attrs) {
	for ; a != nil && (given == nil || declared == nil); a = a.next {
		switch {
		case a.what != what || a.label != label:
		case a.declared && declared == nil:
			declared = a
		case !a.declared && given == nil:
			given = a
		}
	}
	return given, declared
}

func (a *attrs) prio() int32 {
	switch given, declared := a.find(priorityAttr, 0); {
	case given != nil:
		return int32(given.number)
	case declared != nil:
		return int32(declared.number)
	}
	return 0
}

// lookup returns a label's value, 0 when it is not set.
func (a *attrs) lookup(label stubs.NameID) stubs.NameID {
	if set := a.labelled(label); set != nil {
		return stubs.NameID(set.number)
	}
	return 0
}

// labelled returns the label, or nil when it is not set. An empty one, as of a header that is not
// there, is none.
func (a *attrs) labelled(label stubs.NameID) *attrs {
	given, declared := a.find(labelAttr, label)
	if given != nil && given.number != 0 {
		return given
	}
	return declared
}

// cost returns the cost given for a task that is started in parent, or 0.
func (a *attrs) cost(parent *Task) int64 {
	for ; a != nil; a = a.next {
		if a.what == costAttr && a.within == parent {
			return a.number
		}
	}
	return 0
}

type attrContext struct {
	context.Context
	task  *Task
	attrs *attrs
}

func (c *attrContext) Value(key any) any {
	if _, ok := key.(scopeKey); ok {
		return c
	}
	return c.Context.Value(key)
}

func withAttr(ctx context.Context, a attrs) context.Context {
	task, inherited := scopeOf(ctx)
	a.next = inherited
	return &attrContext{ctx, task, &a}
}

// WithPriority returns a context whose tasks have that priority: greater is more urgent, 0 the
// default. Policies see it as task.priority. Child tasks inherit it. It counts before what a
// document says of the tasks.
func WithPriority(ctx context.Context, priority int32) context.Context {
	return withAttr(ctx, attrs{what: priorityAttr, number: int64(priority)})
}

// WithLabel returns a context whose tasks carry the label, for accounts and policies
// (task.labels["tenant"]). Child tasks inherit it. It counts before what a document says of the
// tasks, unless the value is empty. There may be any number of values: the runtime keeps none of
// them beyond its tasks.
func WithLabel(ctx context.Context, name, value string) context.Context {
	if name == "" {
		panic("cocoon: WithLabel: the label's name is empty")
	}
	return withAttr(ctx, labelled(name, value))
}

// labelled is a label with its value.
func labelled(name, value string) attrs {
	return attrs{what: labelAttr, label: stubs.Intern(name), number: int64(stubs.Intern(value)), text: strings.Clone(value)}
}

// WithCost returns a context whose tasks are expected to run for d: policies see it as
// arriving.cost, and tenants are charged by it until the task ends and tells. Child tasks do not
// inherit it. Without it, what a document says of the tasks of the same name is expected, or the
// average of earlier ones.
func WithCost(ctx context.Context, d time.Duration) context.Context {
	task, _ := scopeOf(ctx)
	return withAttr(ctx, attrs{what: costAttr, number: int64(min(max(0, d), greatest)), within: task})
}

// cost returns how long t is expected to run, in ns; 0 when nothing is known.
func (t *Task) cost() int64 {
	if d := t.attrs.cost(t.up.Load()); d > 0 {
		return d
	}
	return t.class.expected()
}

// taskContext is the task as a context. A task is never used twice, so a context kept beyond the
// task's end stays what it was: cancelled, with its values. It is an allocation of its own, so who
// keeps it keeps the values of no other task.
type taskContext Task

// cancelContext carries the cancellation of a task. It is made when somebody asks for Done, or
// cancels: most tasks never need one.
type cancelContext struct {
	context.Context
	cancel context.CancelCauseFunc
}

func (c *taskContext) task() *Task { return (*Task)(c) }

func (c *taskContext) Deadline() (time.Time, bool) { return c.ctx.Deadline() }

func (c *taskContext) Done() <-chan struct{} { return c.task().cancellation().Done() }

func (c *taskContext) Err() error {
	t := c.task()
	if t.contextEnded() {
		return t.endError()
	}
	if above := t.endedAbove(); above != nil {
		return above.endError() // also while the task's cancelContext is about to be ended for that
	}
	return c.ctx.Err()
}

func (c *taskContext) Value(key any) any {
	if _, ok := key.(scopeKey); ok {
		return c
	}
	t := c.task()
	if in := t.innerContext(); in != nil {
		return in.Value(key) // it answers for package context's own keys, so that children need no goroutine
	}
	if above := t.endedAbove(); above != nil {
		if in := above.innerContext(); in != nil {
			return in.Value(key) // with the cause
		}
	}
	return c.ctx.Value(key)
}

func (c *taskContext) String() string { return "cocoon.Task(" + c.task().Path() + ")" }

// innerContext returns the task's cancelContext, or nil if it has none.
func (t *Task) innerContext() *cancelContext {
	if r := t.rare.Load(); r != nil {
		return r.inner.Load()
	}
	return nil
}

// cancellation returns the task's cancelContext, made if it has none. Against a concurrent end, of
// this task's context or of one above: who ends a context sets released, or ends its cancelContext,
// and looks at this inner then; here inner is set, and then the others are looked at; so one of the
// two cancels.
func (t *Task) cancellation() *cancelContext {
	if in := t.innerContext(); in != nil {
		return in
	}
	ctx, cancel := context.WithCancelCause(t.ctx)
	in, r := &cancelContext{ctx, cancel}, t.rarely()
	if !r.inner.CompareAndSwap(nil, in) {
		cancel(nil)
		return r.inner.Load()
	}
	if t.status.Load()&released != 0 {
		cancel(nil)
	} else if above := t.endedAbove(); above != nil {
		cancel(above.endCause())
	}
	return in
}
