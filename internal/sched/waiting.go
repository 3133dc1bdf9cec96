package sched

// kinds is a set of kinds: bit k stands for the kind k.
type kinds uint8

const (
	onlySafe  kinds = 1 << Safe
	safeKinds       = onlySafe | 1<<(Safe|Preemptible)
	notSafe   kinds = 1<<Atomic | 1<<Preemptible
	anyKind         = safeKinds | notSafe
)

// waiting holds the tasks that wait for a slot, by kind, so that every choice is a comparison of the heads of queues: new
// ones, which backpressure may hold back, and started ones.
type waiting struct {
	fresh, started [4]queue
	seq            uint64
	n              int
	ranked         int // how many have a place other than the usual
}

func (w *waiting) queueOf(t *Task) *queue {
	if t.state == Queued {
		return &w.fresh[t.Kind]
	}
	return &w.started[t.Kind]
}

func (w *waiting) push(t *Task) {
	w.seq++
	t.seq = w.seq
	w.queueOf(t).push(t)
	w.n++
	w.count(t, +1)
}

func (w *waiting) remove(t *Task) {
	w.queueOf(t).remove(t)
	w.n--
	w.count(t, -1)
}

func (w *waiting) count(t *Task, d int) {
	if t.place != (place{}) {
		w.ranked += d
	}
}

// first returns the first task by place of the allowed kinds, no fresh ones while held, or nil.
func (w *waiting) first(allowed kinds, held bool) (best *Task) {
	if w.n == 0 {
		return nil
	}
	for k := range w.started {
		if allowed&(1<<k) == 0 {
			continue
		}
		if t := w.started[k].first(); t != nil && (best == nil || t.precedes(best)) {
			best = t
		}
		if t := w.fresh[k].first(); t != nil && !held && (best == nil || t.precedes(best)) {
			best = t
		}
	}
	return best
}

// oldest returns the task of the allowed kinds that has waited longest, no fresh ones while held, or nil.
func (w *waiting) oldest(allowed kinds, held bool) (oldest *Task) {
	if w.n == 0 {
		return nil
	}
	for k := range w.started {
		if allowed&(1<<k) == 0 {
			continue
		}
		if t := w.started[k].head; t != nil && (oldest == nil || t.seq < oldest.seq) {
			oldest = t
		}
		if t := w.fresh[k].head; t != nil && !held && (oldest == nil || t.seq < oldest.seq) {
			oldest = t
		}
	}
	return oldest
}

// newcomers returns how many wait for their first slot.
func (w *waiting) newcomers() (n int) {
	for k := range w.fresh {
		n += w.fresh[k].n
	}
	return n
}

// safe returns how many of them are safe.
func (w *waiting) safe() (n int) {
	for _, k := range [...]Kind{Safe, Safe | Preemptible} {
		n += w.fresh[k].n + w.started[k].n
	}
	return n
}
