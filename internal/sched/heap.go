package sched

// heap is a binary heap of tasks, the first by rank on top. Each task knows its index, so that any
// task can be removed. The heap is written out because container/heap calls through an interface,
// which is most of its time.
type heap []*Task

func (h heap) swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].at, h[j].at = int32(i), int32(j)
}

func (h heap) up(i int) {
	for i > 0 && h[i].precedes(h[(i-1)/2]) {
		h.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (h heap) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[child].precedes(h[least]) {
				least = child
			}
		}
		if least == i {
			return
		}
		h.swap(i, least)
		i = least
	}
}

// moved restores the order after the rank of h[i] has changed.
func (h heap) moved(i int) {
	h.up(i)
	h.down(i)
}

func (h *heap) push(t *Task) {
	t.at = int32(len(*h))
	*h = append(*h, t)
	h.up(len(*h) - 1)
}

// keptHeap is the maximum length of an empty heap's array to keep for the next crowd.
const keptHeap = 1 << 10

func (h *heap) remove(t *Task) {
	i, last := int(t.at), len(*h)-1
	h.swap(i, last)
	(*h)[last] = nil
	*h = (*h)[:last]
	if i < last {
		h.moved(i)
	}
	if last == 0 && cap(*h) > keptHeap {
		*h = nil
	}
}

// build makes a heap of the tasks of a list, in linear time.
func (h *heap) build(l *list) {
	for t := l.head; t != nil; t = t.next {
		t.at = int32(len(*h))
		*h = append(*h, t)
	}
	for i := len(*h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}
