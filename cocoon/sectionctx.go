package cocoon

import (
	"context"
	"errors"
)

// own assigns the context to the section.
func (st *sectionStack) own(id uint64, c *sectionContext) {
	c.id, c.up = id, st.owned.Load()
	st.owned.Store(c)
}

// disown ends the context of a section that has ended, with the section's error if it was thrown
// into. If the throw had already ended the context, and the section's error only says that the
// context ended, the throw becomes the section's error.
func (st *sectionStack) disown(c *sectionContext, err *error) {
	st.owned.Store(c.up)
	if errors.Is(*err, context.Canceled) && c.outer.Err() == nil {
		if cause := context.Cause(c.inner); cause != nil {
			*err = cause
		}
	}
	var cause error
	if thrown, ok := (*err).(*PreemptedError); ok {
		cause = thrown
	}
	c.cancel(cause)
}

// endContext ends the context of the section if the section is open and has its own. It may be
// called by any goroutine, without a lock, because functions that wait for the context run then.
func (st *sectionStack) endContext(id uint64, cause error) {
	for c := st.owned.Load(); c != nil; c = c.up {
		if c.id == id {
			c.cancel(cause)
			return
		}
	}
}

// owns reports whether the section has a context of its own. Called by the task's goroutine.
func (st *sectionStack) owns(id uint64) bool {
	for c := st.owned.Load(); c != nil; c = c.up {
		if c.id == id {
			return true
		}
	}
	return false
}

// ends reports whether done belongs to the context of an open section. Called by the task's
// goroutine.
func (st *sectionStack) ends(done <-chan struct{}) bool {
	for c := st.owned.Load(); c != nil; c = c.up {
		if c.inner.Done() == done {
			return true
		}
	}
	return false
}
