package cocoon

import "github.com/cocoon-go/cocoon/notify"

// Cancel asks the task and its children to end. A task that waits for its first slot never starts.
// A task that has started is thrown into at its next safe point, through all sections, and its
// context ends now. Cancelling a task that has ended has no effect on the task itself, but reaches
// its children as long as they belong to it, see Task.Stack.
func (t *Task) Cancel() { t.cancel("cancelled", ErrCancelled, nil) }

// cancel throws into t and its children, and ends their contexts. The throw into t is posted before
// a child unwinds: otherwise t, woken by the child's end, would take that for a failure of the
// child only. The context of t ends last, so the children are thrown into whatever they wait for.
// The caller cancels the tasks in others itself, so cancel leaves out children that are among them.
func (t *Task) cancel(reason string, cause error, others map[*Task]struct{}) {
	end, inside := t.doom(reason, cause)
	first := t.Children()
	cancelAll(first, cause, others)
	if inside { // otherwise the task's own goroutine does it, at its safe point
		t.endContext(end)
	}
	// Children started in the meantime. Without the first ones: cancelling these twice would cancel
	// tasks nested n deep 2^n times.
	if late := t.Children(); len(late) > 0 {
		cancelAll(late, cause, setOf(first))
	}
}

// doom posts the throw that cancels t, or takes t out of the queue. It returns the cause with which
// the context of t is to end, and whether the caller may end it. It calls no application code.
func (t *Task) doom(reason string, cause error) (end error, inside bool) {
	l := t.strand.loop
	l.lockAll()
	defer l.unlock()
	end, inside = cause, true
	if s := t.strand; t.known {
		inside = !s.bubbled || notify.Bubbled()
		now := notify.Now()
		end = s.doom(s.preempted("", reason, "", cause, now), now)
		t.doomed = true
	} else if t.status.Load() == uint32(Starting) && !t.doomed { // not yet arrived
		t.doomed = true
		l.rt.decisions.addCancel(&Decision{Kind: DecisionRefusal, Loop: l.cfg.Name, Task: t.shortPath(), Reason: reason})
	}
	return end, inside
}

// doom takes the task out of the queue, or posts the throw, and puts that into the stream of
// decisions. A task cancelled again is not in the stream again. doom returns the throw that
// ends the task. Called under the loop's lock.
//
//go:noinline
func (s *strand) doom(err *PreemptedError, now int64) *PreemptedError {
	d := s.loop.about(DecisionRefusal, s) // before the strand leaves the task
	d.Section, d.Reason = cutText(s.section(), maxDecisionText), err.Reason
	if !s.abandon(err, now) {
		d.Kind = DecisionThrow
		if last := s.throwToTheEnd(err, now); last != err {
			return last
		}
	}
	s.loop.rt.decisions.addCancel(&d)
	return err
}

// cancelAll cancels the children of a cancelled task, except those in others.
func cancelAll(children []*Task, cause error, others map[*Task]struct{}) {
	for _, c := range children {
		if _, ok := others[c]; !ok {
			c.cancel("cancelled with its parent", cause, others)
		}
	}
}

func setOf(tasks []*Task) map[*Task]struct{} {
	set := make(map[*Task]struct{}, len(tasks))
	for _, t := range tasks {
		set[t] = struct{}{}
	}
	return set
}

// throwToTheEnd posts a throw that ends the task, and replaces a throw into a section. It returns
// the throw that ends the task, which may be an earlier one. Called under the loop's lock.
func (s *strand) throwToTheEnd(err *PreemptedError, now int64) *PreemptedError {
	if s.pending == nil || s.pending.section != 0 {
		s.dropThrow()
		s.postThrow(err, 0, now)
	}
	return s.pending.err
}
