package sched

// queue holds waiting tasks of one kind, in order of arrival and by rank. As long as all tasks have
// the same place, the two orders are the same, and the heap is empty: first in, first out needs no
// comparison. The first task with a different place makes the queue build the heap, from tasks that
// were pushed at no cost, and keep it until no task waits.
type queue struct {
	list         // all tasks, in order of waiting
	heap         // all tasks, by rank; or none
	passed int64 // when the oldest task last left: the current oldest is passed over since then
}

func (q *queue) push(t *Task) {
	q.list.push(t)
	switch {
	case len(q.heap) > 0:
		q.heap.push(t)
	case t.prev != nil && t.prev.place != t.place:
		q.heap.build(&q.list)
	}
}

func (q *queue) remove(t *Task) {
	q.list.remove(t)
	if len(q.heap) > 0 {
		q.heap.remove(t)
	}
}

// moved restores the order after the rank of t, which is in the queue, has changed.
func (q *queue) moved(t *Task) {
	switch {
	case len(q.heap) > 0:
		q.heap.moved(int(t.at))
	case q.n > 1:
		q.heap.build(&q.list)
	}
}

// first returns the first task by place, or nil.
func (q *queue) first() *Task {
	if len(q.heap) > 0 {
		return q.heap[0]
	}
	return q.head
}

// precedes reports whether t should start before u: by their places, and at equal places by their
// order of arrival.
func (t *Task) precedes(u *Task) bool {
	return t.place.precedes(u.place) || t.place == u.place && t.seq < u.seq
}
