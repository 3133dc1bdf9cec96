package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/notify"
)

// Beat: a task that runs long and passes no SafePoint cannot yield its core. For such tasks the
// timer of a hot runtime wakes every beatBreaths breaths and has nothing to do. Its thread takes
// the core from the task's at once, and when it sleeps again the kernel gives the core to the thread
// that has waited longest. Otherwise that thread would wait for the kernel's next tick.

// beatBreaths is how many breaths pass between two wakings. With 10, they take at most 2.5 % of a
// core.
const beatBreaths = 10

// beat returns when the timer must wake again to interrupt a task that runs long and does not yield
// its core itself. The timer need not do anything else. Called by the timer, under the loop's lock.
func (s *strand) beat(now int64) (next int64) {
	rt := s.loop.rt
	if !rt.breathes || !rt.warmth.hot.Load() {
		return notify.Never
	}
	every := beatBreaths * int64(min(rt.cfg.Breath, time.Second))
	if due := s.core.Since() + max(heatAfter, every); now < due {
		return due
	}
	if now-s.breath.last.Load() < every {
		return notify.Never // it passes safe points
	}
	switch s.status() {
	case goroutine.Running, goroutine.Runnable:
		rt.warmth.beaten.Store(now)
		return now + every
	}
	return notify.Never
}

// armBeat makes the timer look at a task that begins to run at the time from, if another task has
// needed beats lately. The next task may begin when no task runs, and the timer sleeps for long.
func (rt *Runtime) armBeat(from int64) {
	if w := &rt.warmth; w.hot.Load() && from-w.beaten.Load() < minStay {
		rt.timer.WakeAt(from + heatAfter)
	}
}
