package cocoon

// newErrands returns the functions to which code under a loop's lock leaves work.
func newErrands() errands {
	return errands{
		endContext: (*strand).endFor,
		hear:       (*Task).hear,
		withdraw:   (*version).cancel,
	}
}

// hear stores what was read from the task's context.
func (t *Task) hear(said heard) {
	l := t.strand.loop
	l.lock()
	defer l.unlock()
	if !t.known {
		return
	}
	h := &t.strand.heard
	if said.read&readDeadline != 0 {
		h.deadline = said.deadline
	}
	if said.read&readDone != 0 {
		h.done = said.done
	}
}
