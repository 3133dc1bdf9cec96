package sched

// list is a doubly linked list of tasks in order of waiting. A task is in at most one list.
type list struct {
	head, tail *Task
	n          int
}

func (l *list) push(t *Task) {
	t.prev, t.next = l.tail, nil
	if l.tail != nil {
		l.tail.next = t
	} else {
		l.head = t
	}
	l.tail = t
	l.n++
}

func (l *list) remove(t *Task) {
	if t.prev != nil {
		t.prev.next = t.next
	} else {
		l.head = t.next
	}
	if t.next != nil {
		t.next.prev = t.prev
	} else {
		l.tail = t.prev
	}
	t.prev, t.next = nil, nil
	l.n--
}

// waiting holds the tasks that wait for a slot: new ones, which backpressure may hold back, and started ones, each split
// by whether they are safe, so that every choice is a comparison of list heads.
type waiting struct {
	fresh, started [2]list // index 1: safe
	seq            uint64
}

func class(t *Task) int { return int(t.Kind&Safe) / int(Safe) }

func (w *waiting) listOf(t *Task) *list {
	if t.state == Queued {
		return &w.fresh[class(t)]
	}
	return &w.started[class(t)]
}

func (w *waiting) push(t *Task) {
	w.seq++
	t.seq = w.seq
	w.listOf(t).push(t)
}

func (w *waiting) remove(t *Task) { w.listOf(t).remove(t) }

func (w *waiting) len() int { return w.fresh[0].n + w.fresh[1].n + w.started[0].n + w.started[1].n }

func (w *waiting) safe() int { return w.fresh[1].n + w.started[1].n }

// first returns the task that has waited longest among those allowed: only safe ones, and no fresh ones while held.
func (w *waiting) first(onlySafe, held bool) *Task {
	best := earlier(nil, w.started[1].head)
	if !onlySafe {
		best = earlier(best, w.started[0].head)
	}
	if held {
		return best
	}
	best = earlier(best, w.fresh[1].head)
	if !onlySafe {
		best = earlier(best, w.fresh[0].head)
	}
	return best
}

func earlier(a, b *Task) *Task {
	if a == nil || b != nil && b.seq < a.seq {
		return b
	}
	return a
}

// oldest returns when the longest-waiting task began to wait, and whether any waits.
func (w *waiting) oldest() (since int64, ok bool) {
	if t := w.first(false, false); t != nil {
		return t.since, true
	}
	return 0, false
}
