package cocoon

// own assigns the context to the section.
func (st *sectionStack) own(id uint64, c *sectionContext) {
	c.id, c.up = id, st.owned.Load()
	st.owned.Store(c)
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

// done returns the channel of the context that the section has of its own, or nil. Called by the
// task's goroutine.
func (st *sectionStack) done(id uint64) <-chan struct{} {
	for c := st.owned.Load(); c != nil; c = c.up {
		if c.id == id {
			return c.inner.Done()
		}
	}
	return nil
}
