package cocoon

import (
	"cmp"
	"context"
	"fmt"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// endContext ends the task's context, and the contexts of the children that share it. Package
// context then calls the contexts above it. If one of them panics, the panic is dropped, and the
// task ends, or is thrown into, nevertheless.
func (t *Task) endContext(cause error) {
	func() {
		ends.begin()
		defer ends.end()
		defer func() { _ = recover() }()
		t.cancellation().cancel(cause)
	}()
	if t.contextEnded() {
		t.callWatchers()
		t.endBelow(t.endCause())
	}
}

// end ends the context of a task that no child shares. As in endContext, a panic is dropped.
func (c *cancelContext) end() {
	defer func() { _ = recover() }()
	c.cancel(nil)
}

// endBelow ends the contexts of the children that share the context of t, which has ended. The code
// that has ended the context of a child also ends those below the child. So endBelow leaves them
// out: otherwise the end of a chain of n tasks would visit n*n/2 tasks.
func (t *Task) endBelow(cause error) {
	for _, c := range t.Children() {
		if !c.bare.Load() {
			continue
		}
		if !c.contextEnded() {
			c.endContext(cause)
		}
		if c.Status() == Starting {
			c.giveUp(cause)
		}
	}
}

// giveUp takes a task that waits for its first slot out of the queue.
func (t *Task) giveUp(cause error) {
	why, l := t.refusal(cmp.Or(cause, context.Canceled)), t.strand.loop
	l.lock()
	defer l.unlock()
	if t.known {
		t.strand.abandon(why, notify.Now())
	}
}

// abandon evaluates the leave policies for a task that waits for its first slot, ends the task, and
// wakes it with the reason. Called under the loop's lock.
func (s *strand) abandon(why error, now int64) bool {
	if s.core.State() == sched.Queued && s.loop.wants(stubs.Leave) {
		s.loop.evaluateEvent(s, stubs.Leave, now)
	}
	return s.withdraw(why, now)
}

// refusal returns the error of a task that ended before it started because its context ended, the
// queue was full or the runtime shut down. It is not inlined, so that waiting tasks have small
// frames: even with the channel made, a wait for a slot fits into the 2 KiB of a new goroutine's
// stack (TestWaitingTaskNeedsLittle).
//
//go:noinline
func (t *Task) refusal(cause error) error {
	return fmt.Errorf("cocoon: task %q did not start: %w", t.Path(), cause)
}
