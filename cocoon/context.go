package cocoon

import (
	"context"
	"strings"
	"sync/atomic"
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
	givenPriorities.note(priority)
	return withAttr(ctx, attrs{what: priorityAttr, number: int64(priority)})
}

// givenPriorities are the bounds of all priorities that WithPriority has given in the process.
var givenPriorities bounds

// bounds are the least and the greatest of some numbers and 0.
type bounds struct{ least, most atomic.Int32 }

func (b *bounds) note(n int32) {
	for least := b.least.Load(); n < least && !b.least.CompareAndSwap(least, n); least = b.least.Load() {
	}
	for most := b.most.Load(); n > most && !b.most.CompareAndSwap(most, n); most = b.most.Load() {
	}
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

func (c *taskContext) task() *Task { return (*Task)(c) }

func (c *taskContext) Deadline() (time.Time, bool) { return c.ctx.Deadline() }

func (c *taskContext) Done() <-chan struct{} { return c.task().cancellation().Done() }

func (c *taskContext) Err() error {
	t := c.task()
	if t.contextEnded() {
		return t.endError()
	}
	if above := t.endedAbove(); above != nil {
		return above.endError() // even while the task's cancelContext is about to end for it
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

// contextEnded reports whether the task's own context has ended by itself, and not through a
// context above it.
func (t *Task) contextEnded() bool {
	in := t.innerContext()
	return in != nil && in.Err() != nil || t.status.Load()&released != 0
}

// endedAbove returns the task above t that has ended t's context with its own, or nil.
func (t *Task) endedAbove() *Task {
	above, _ := t.searchAbove()
	return above
}

// searchAbove is endedAbove. It also returns at how many tasks it looked: at few, even if live
// tasks are nested thousands deep, because it ends where an earlier search has found nothing.
func (t *Task) searchAbove() (ended *Task, looked int) {
	now := ends.Load()
	for c := t; c.bare.Load(); looked++ {
		p := c.up.Load()
		if p.contextEnded() {
			if c.up.Load() == p { // otherwise c was just taken from p, and did not end with it
				return p, looked
			}
			continue
		}
		if c = p; now.idle() && p.rarely().cleared.Load() == now.cleared() {
			break
		}
	}
	if looked >= fewAbove && now.idle() {
		t.up.Load().rarely().cleared.Store(now.cleared())
	}
	return nil, looked
}

// endError returns the error of the context, which has ended.
func (t *Task) endError() error {
	if in := t.innerContext(); in != nil && in.Err() != nil {
		return in.Err()
	}
	return context.Canceled
}

// endCause returns the cause of the context, which has ended. It returns nil if the context was
// canceled without a cause.
func (t *Task) endCause() error {
	if in := t.innerContext(); in != nil && in.Err() != nil {
		return context.Cause(in)
	}
	return nil
}

// given returns the context that the task was given, or its own if it was given its parent's.
func (t *Task) given() context.Context {
	if t.bare.Load() {
		return (*taskContext)(t)
	}
	return t.ctx
}

// TaskOf returns the task that ctx belongs to, or nil.
func TaskOf(ctx context.Context) *Task {
	t, _ := scopeOf(ctx)
	return t
}
