package cocoon

import (
	"errors"
	"unsafe"

	"github.com/cocoon-go/cocoon/internal/ir"
)

// has reports whether a task is in the cohort. A task without the label is not.
func (c *cohort) has(t *Task) bool {
	h := uint64(0)
	switch c.by {
	case byTask: // the address stays the same while the task lives
		h = ir.Mix(0, uint64(uintptr(unsafe.Pointer(t))))
	case byName:
		h = ir.Mix(0, ir.Hash(t.class.text))
	default:
		set := t.attrs.labelled(c.label)
		if set == nil {
			return false
		}
		h = ir.Mix(0, ir.Hash(set.text))
	}
	return h < c.limit
}

// takes reports whether the policy is evaluated for s, or, if s is nil, where no task is concerned.
func (b *bound) takes(s *strand) bool {
	p := b.part.Load()
	return p == nil || (s != nil && p.of.has(s.task)) == p.new
}

// count counts a task that has ended or was refused.
func (c *canary) count(t *Task, queued int64, failed, started bool) {
	i := 0
	if c.has(t) {
		i = 1
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.side[i]
	s.ended++
	if failed {
		s.failed++
	}
	if started {
		s.queueing.add(queued)
	}
}

// running reports whether there is any.
func (c *canaries) running() bool { return c.all.Load() != nil }

// count counts a task on all of them.
func (c *canaries) count(t *Task, queued int64, failed, started bool) {
	if all := c.all.Load(); all != nil {
		for _, one := range *all {
			one.count(t, queued, failed, started)
		}
	}
}

// refused counts a task that never started, if that was not its own wish.
func (c *canaries) refused(t *Task, err error) {
	var by *PreemptedError
	if c.running() && (errors.As(err, &by) || errors.Is(err, ErrOverloaded)) {
		c.count(t, 0, true, false)
	}
}
