package cocoon

import (
	"log/slog"
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
)

// Waits on exclusive loops. A task that waits outside Block keeps its slot of an exclusive loop. If
// another task of the loop must run to end the wait, it never ends. Examples are a message on a
// channel from the other task, and its end (Handle.Wait) with a context that does not carry the
// waiting task. In plain Go, a goroutine that holds a lock meanwhile never goes on
// either. The runtime does not know what a task waits for. But it sees that one and the same wait
// keeps a slot for which other tasks wait, and logs this.

const (
	keptFor  = int64(2 * time.Second) // after which the log says so
	keptMore = 10                     // times as long: the log says so again
	keptLook = int64(100 * time.Millisecond)
)

// findKept logs the waits that keep slots of an exclusive loop for long. It returns when to look
// again. Called by the timer, under the loop's lock, while a task waits for a slot.
func (l *Loop) findKept(now int64) (next int64) {
	if !l.cfg.Exclusive || !l.core.Wanted() {
		return notify.Never
	}
	for i := range l.slots {
		if s := l.slots[i].firm(); s != nil && s.keeps(now) {
			l.reportKept(s, now)
		}
	}
	return now + keptLook
}

// keeps reports whether the wait of a task's goroutine has kept the slot for so long that the log
// should say so. Called under the loop's lock.
func (s *strand) keeps(now int64) bool {
	k, status := s.checked(), s.status()
	leaves, _ := goroutine.LeavesOf(s.g.Load())
	switch {
	case status != goroutine.Waiting && status != goroutine.Syscall:
		k.keptSince = 0
		return false
	case k.keptSince == 0 || leaves != k.keptLeaves:
		k.keptSince, k.keptLeaves, k.keptTell = now, leaves, now+keptFor
		return false
	case now < k.keptTell:
		return false
	}
	k.keptTell = now + (keptMore-1)*(now-k.keptSince)
	return true
}

// reportKept logs that the wait of s keeps its slot. Called under the loop's lock.
func (l *Loop) reportKept(s *strand, now int64) {
	oldest := l.longestWaiting()
	if oldest == nil { // suspended tasks wait for the slot
		return
	}
	l.rt.log.add(slog.LevelWarn, "cocoon: a task waits outside cocoon.Block, and keeps its slot of an exclusive loop, which other tasks wait for. If it waits for one of them, the wait never ends. cocoon.Block around the wait gives the slot up, if it gets the task's context",
		"task", s.task.Path(), "loop", l.cfg.Name, "waits", time.Duration(now-s.checks.keptSince),
		"queued", l.core.Waiting(), "first", oldest.task.Path(), "first_waits", time.Duration(now-oldest.core.Since()))
}

// longestWaiting returns the task that has waited longest for a slot, or nil. Called under the
// loop's lock.
func (l *Loop) longestWaiting() (oldest *strand) {
	for s := l.live; s != nil; s = s.next {
		if st := s.core.State(); st != sched.Queued && st != sched.Ready {
			continue
		}
		if oldest == nil || s.core.Since() < oldest.core.Since() {
			oldest = s
		}
	}
	return oldest
}
