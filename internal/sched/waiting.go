package sched

import "math/bits"

// kinds is a set of kinds: bit k stands for the kind k.
type kinds uint8

const (
	onlySafe  kinds = 1 << Safe
	safeKinds       = onlySafe | 1<<(Safe|Preemptible)
	notSafe   kinds = 1<<Atomic | 1<<Preemptible
	anyKind         = safeKinds | notSafe
	kindCount       = 4
)

// waiting holds the tasks that wait for a slot, by kind, so that every choice is a comparison of
// the heads of queues: new ones, which backpressure may hold back, and started ones.
type waiting struct {
	queues [2 * kindCount]queue // of the started tasks by kind, then of the new ones
	some   uint8                // bit i: queues[i] is not empty
	seq    uint64
	n      int
	ranked int  // tasks with a place other than the zero place
	left   span // the time that the tasks are expected to run
}

// index returns which queue t belongs to.
func index(t *Task) int {
	if t.state == Queued {
		return kindCount + int(t.Kind)
	}
	return int(t.Kind)
}

func (w *waiting) queueOf(t *Task) *queue { return &w.queues[index(t)] }

func (w *waiting) push(t *Task) {
	w.seq++
	t.seq = w.seq
	i := index(t)
	w.queues[i].push(t)
	w.some |= 1 << i
	w.n++
	w.left.add(t.left())
	w.count(t, +1)
}

func (w *waiting) remove(t *Task) {
	i := index(t)
	if w.queues[i].remove(t); w.queues[i].n == 0 {
		w.some &^= 1 << i
	}
	w.n--
	w.left.sub(t.left())
	w.count(t, -1)
}

func (w *waiting) count(t *Task, d int) {
	if t.place != (place{}) {
		w.ranked += d
	}
}

// first returns the first task by place of the allowed kinds, or nil. While held, no new task
// counts.
func (w *waiting) first(allowed kinds, held bool) (best *Task) {
	for some := w.among(allowed, held); some != 0; some &= some - 1 {
		if t := w.queues[bits.TrailingZeros8(some)].first(); best == nil || t.precedes(best) {
			best = t
		}
	}
	return best
}

// oldest returns the task of the allowed kinds that has waited longest, or nil. While held, no new
// task counts.
func (w *waiting) oldest(allowed kinds, held bool) (oldest *Task) {
	for some := w.among(allowed, held); some != 0; some &= some - 1 {
		if t := w.queues[bits.TrailingZeros8(some)].head; oldest == nil || t.seq < oldest.seq {
			oldest = t
		}
	}
	return oldest
}

// among returns the queues that are not empty, of the allowed kinds and without the new tasks while
// held, as bits.
func (w *waiting) among(allowed kinds, held bool) uint8 {
	some := w.some & uint8(allowed|allowed<<kindCount)
	if held {
		some &= 1<<kindCount - 1
	}
	return some
}

// newcomers returns how many wait for their first slot.
func (w *waiting) newcomers() (n int) {
	for i := range w.queues[kindCount:] {
		n += w.queues[kindCount+i].n
	}
	return n
}

// safe returns how many of them are safe.
func (w *waiting) safe() (n int) {
	for _, k := range [...]Kind{Safe, Safe | Preemptible} {
		n += w.queues[k].n + w.queues[kindCount+k].n
	}
	return n
}
