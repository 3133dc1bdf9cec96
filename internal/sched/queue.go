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

// kinds is a set of kinds: bit k stands for the kind k.
type kinds uint8

const (
	onlySafe  kinds = 1 << Safe
	safeKinds       = onlySafe | 1<<(Safe|Preemptible)
	notSafe   kinds = 1<<Atomic | 1<<Preemptible
	anyKind         = safeKinds | notSafe
)

// queue holds waiting tasks by kind, so that every choice is a comparison of list heads.
type queue [4]list

func (q *queue) len() int { return q[0].n + q[1].n + q[2].n + q[3].n }

// first returns the task that has waited longest among those of the allowed kinds and best, or nil.
func (q *queue) first(allowed kinds, best *Task) *Task {
	for k := range q {
		if t := q[k].head; t != nil && allowed&(1<<k) != 0 && (best == nil || t.seq < best.seq) {
			best = t
		}
	}
	return best
}

// waiting holds the tasks that wait for a slot: new ones, which backpressure may hold back, and started ones.
type waiting struct {
	fresh, started queue
	seq            uint64
	n              int
}

func (w *waiting) listOf(t *Task) *list {
	if t.state == Queued {
		return &w.fresh[t.Kind]
	}
	return &w.started[t.Kind]
}

func (w *waiting) push(t *Task) {
	w.seq++
	t.seq = w.seq
	w.listOf(t).push(t)
	w.n++
}

func (w *waiting) remove(t *Task) {
	w.listOf(t).remove(t)
	w.n--
}

// first returns the task of the allowed kinds that has waited longest, no fresh ones while held, or nil.
func (w *waiting) first(allowed kinds, held bool) *Task {
	if w.n == 0 {
		return nil
	}
	best := w.started.first(allowed, nil)
	if held {
		return best
	}
	return w.fresh.first(allowed, best)
}

// safe returns how many of them are safe.
func (w *waiting) safe() int {
	n := 0
	for _, k := range [...]Kind{Safe, Safe | Preemptible} {
		n += w.fresh[k].n + w.started[k].n
	}
	return n
}

// oldest returns when the longest-waiting task began to wait, and whether any waits.
func (w *waiting) oldest() (since int64, ok bool) {
	if t := w.first(anyKind, false); t != nil {
		return t.since, true
	}
	return 0, false
}
