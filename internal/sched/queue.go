package sched

// queue holds waiting tasks of one kind, in the order in which they came and by rank. As long as
// all have the same place the two are the same order, and the heap is empty: first in, first out
// costs no comparison. With the first rank that differs the heap is made, of tasks that were pushed
// for nothing, and kept until nobody waits.
type queue struct {
	list         // all, in order of waiting
	heap         // all, by rank; or none
	passed int64 // when the oldest last left: since then the one that is the oldest now has been passed over, if it waited
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

// moved takes note that the rank of t, which is in the queue, has changed.
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

// precedes reports whether t is to start before u: by their places, and of equal ones who came
// first.
func (t *Task) precedes(u *Task) bool {
	return t.place.precedes(u.place) || t.place == u.place && t.seq < u.seq
}
