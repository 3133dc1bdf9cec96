package cocoon

import (
	"context"
	"strings"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

type scopeKey struct{}

// scopeOf returns the task that ctx belongs to, and the attributes for tasks started from ctx.
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
	declared bool   // by a document; attributes given by a context take precedence
	noted    uint32 // see note; read and written atomically
	label    stubs.NameID
	number   int64  // the priority, the cost in ns, or the label's value
	text     string // the label's value: a copy, because it may be part of a whole request
	within   *Task  // of a cost: it applies to tasks started in this one, not to their children
}

type attribute uint8

const (
	priorityAttr attribute = iota
	labelAttr
	costAttr
)

// find returns the newest attribute of that sort given by a context, and the newest one declared by
// a document. Each is nil if there is none.
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

// lookup returns a label's value, or 0 if it is not set.
func (a *attrs) lookup(label stubs.NameID) stubs.NameID {
	if set := a.labelled(label); set != nil {
		return stubs.NameID(set.number)
	}
	return 0
}

// labelled returns the label, or nil if it is not set. An empty label, such as one taken from a
// missing header, counts as not set.
func (a *attrs) labelled(label stubs.NameID) *attrs {
	given, declared := a.find(labelAttr, label)
	if given != nil && given.number != 0 {
		return given
	}
	return declared
}

// cost returns the cost given for a task started in parent, or 0.
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

// WithPriority returns a context whose tasks have that priority. A greater priority is more urgent;
// the default is 0. Policies see it as task.priority. Child tasks inherit it. It takes precedence
// over the priority in a document.
func WithPriority(ctx context.Context, priority int32) context.Context {
	return withAttr(ctx, attrs{what: priorityAttr, number: int64(priority)})
}

// WithLabel returns a context whose tasks carry the label, for accounts and policies
// (task.labels["tenant"]). Child tasks inherit it. Unless the value is empty, it takes precedence
// over the label in a document. There may be any number of values, because the runtime stores
// values only as long as the tasks that carry them.
func WithLabel(ctx context.Context, name, value string) context.Context {
	if name == "" {
		panic("cocoon: WithLabel: the label's name is empty")
	}
	return withAttr(ctx, labelled(name, value))
}

// labelled returns a label with its value.
func labelled(name, value string) attrs {
	return attrs{what: labelAttr, label: stubs.Intern(name), number: int64(stubs.Intern(value)), text: strings.Clone(value)}
}

// WithCost returns a context whose tasks are expected to run for d. Policies see the cost as
// arriving.cost, and tenants are charged for it until the task ends and its real cost is known.
// Child tasks do not inherit it. Without it, the expected cost is the one that a document declares
// for tasks of the same name, or the average of earlier ones.
func WithCost(ctx context.Context, d time.Duration) context.Context {
	task, _ := scopeOf(ctx)
	return withAttr(ctx, attrs{what: costAttr, number: int64(min(max(0, d), greatest)), within: task})
}

// cost returns how long t is expected to run, in ns, or 0 if this is unknown.
func (t *Task) cost() int64 {
	if d := t.attrs.cost(t.up.Load()); d > 0 {
		return d
	}
	return t.class.expected()
}

// taskContext is the task as a context. A task is never used twice, so a context retained beyond
// the task's end stays cancelled and keeps its values. It is an allocation of its own, so that code
// which retains it does not retain the values of another task.
type taskContext Task

// cancelContext carries the cancellation of a task. It is made on the first call of Done or of
// cancel, because most tasks never need one.
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
		return above.endError() // also while the task's cancelContext is about to end for it
	}
	return c.ctx.Err()
}

func (c *taskContext) Value(key any) any {
	if _, ok := key.(scopeKey); ok {
		return c
	}
	t := c.task()
	if in := t.innerContext(); in != nil {
		// It handles package context's own keys, so that derived contexts need no goroutine.
		return in.Value(key)
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

// cancellation returns the task's cancelContext, and makes it if necessary. The context of this
// task or of one above may end concurrently. The code that ends it first sets released, or ends its
// cancelContext, and then looks at this inner. cancellation first sets inner and then looks at
// released and at the contexts above. So at least one of the two cancels.
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
