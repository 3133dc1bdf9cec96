package cocoon

import (
	"bytes"
	"fmt"
	"log/slog"
	"runtime"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// stallAfter is how long a task may be silent; where stalls are not looked for, what it is by default.
func (rt *Runtime) stallAfter() time.Duration {
	if rt.cfg.StallAfter > 0 {
		return rt.cfg.StallAfter
	}
	return defaultStallAfter
}

// lend gives the slot of a stalled task to the others. Called under the loop's lock.
func (l *Loop) lend(s *strand, now int64) {
	i := s.core.Slot()
	l.slots[i].holder.Store(&shut)
	l.absent.addLent(s)
	l.core.Lend(&s.core, now)
	l.deliver(now)
	l.stats.stalls.Add(1)
	go l.reportStall(s, s.task.Path(), time.Duration(now-s.core.Arrived()))
}

// reportStall logs a stall with the task's stack, and how many there were on the loop so far. Those that come within a
// second after a report are only counted: taking the stack stops the world.
func (l *Loop) reportStall(s *strand, path string, age time.Duration) {
	if !l.stats.reports.due(notify.Now()) {
		return
	}
	l.rt.log.add(slog.LevelWarn, "cocoon: task holds a slot without passing a safe point; its slot is lent to others",
		"task", path, "loop", l.cfg.Name, "age", age, "stalls", l.stats.stalls.Load(), "stack", s.stack())
}

// stack returns the stack of the task's goroutine. Go gives out the stacks of all goroutines only; the right one is that
// in which (*strand).call has s as its receiver.
func (s *strand) stack() string {
	buf := make([]byte, 1<<20)
	buf = buf[:runtime.Stack(buf, true)]
	frame := []byte(fmt.Sprintf("cocoon.(*strand).call(%p,", s))
	for _, g := range bytes.Split(buf, []byte("\n\n")) {
		if bytes.Contains(g, frame) {
			return string(g)
		}
	}
	return ""
}
