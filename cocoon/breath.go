package cocoon

import (
	"runtime"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/notify"
)

// Breath: on a busy core the thread that polls the network, or a thread that has just received a
// request, waits until the kernel ends the time slice of the thread that runs a task, which takes
// milliseconds. There are three remedies, and none suffices alone (docs/design.md). They apply to
// hot runtimes only:
//
//   - If the kernel lets a thread ask for shorter slices (Linux 6.12 and later), all threads of the
//     process do. This costs a running task nothing, but the kernel checks the slices only at its
//     own ticks. The timer's thread has the shortest possible slice (package notify), so it need
//     not wait for the other slices to end.
//   - A task yields its core for an instant, at a SafePoint, when a breath has passed since it last
//     did. It keeps its slot. The task looks at the clock itself, every few safe points. The timer
//     could ask for it, but on virtual machines a tick takes a core 15 to 25 µs, ten times as long
//     as the yield.
//   - For a task that passes no SafePoint, the timer wakes now and then (beat.go).

const (
	// looks is how often a task reads the clock in a breath.
	looks = 4

	// coldLook is how often a task reads the clock while the runtime is cold, to find out whether
	// it runs long. If a task passes safe points less often, it counts as having run for coldLook
	// between two of them, because it may have waited unannounced meanwhile.
	coldLook = int64(500 * time.Microsecond)

	maxStride = 1 << 16

	// A task shares its core with another thread that computes if sharedTimes yields in a row took
	// about a breath or longer. Then it yields every sharedBreaths only. Linux moves no thread to
	// an idle core if the thread has run in the last 500 µs. Two threads that yield to each other
	// more often stay on one core, and the other core may be idle: a fifth of two cores was, in a
	// server of web sockets. Fewer than beatBreaths, because the beat is for tasks that do not
	// yield.
	sharedTimes   = 4
	sharedBreaths = 8

	// keepsP is how long a task keeps its P at its safe points while another task has a request and
	// no P. The word is raised then, so each safe point is slow. With Go's own time slices of 10 ms, a
	// throw into one of 40 busy tasks on two Ps would be 200 ms late.
	keepsP = int64(200 * time.Microsecond)
)

// begin prepares for a new task.
func (b *breather) begin() {
	b.left.set(0)
	b.stride, b.looked, b.ran = 0, 0, 0
}

// breathe reads the clock, records that the task runs long, and yields the core if a breath has
// passed. Called by the task's goroutine.
func (s *strand) breathe() {
	b, rt := &s.breath, s.loop.rt
	now, hot, every := notify.Now(), rt.warmth.hot.Load(), coldLook
	if hot && rt.breathes {
		every = int64(rt.cfg.Breath) / looks
	}
	lead := s.stacks.Load().lacksStretch()
	if lead != 0 {
		every = min(every, firstLook(lead)/2)
	}
	if base := s.runBase.Load(); base != b.base || b.looked == 0 {
		b.base, b.ran, b.stride = base, 0, 0
	} else if b.wasDiverted() { // how many safe points it has passed is not known
		b.ran += min(max(1, now-b.looked), coldLook)
		b.stride = 0
	} else {
		elapsed, polls := max(1, now-b.looked), int64(b.stride-b.left.get())
		b.ran += min(elapsed, coldLook)
		b.stride = int32(min(max(0, polls*every/elapsed-1), maxStride))
	}
	b.left.set(b.stride)
	b.looked = now
	if s.aside() { // it has waited since the last look, and mostly waits: that was no running
		b.ran = 0
		return
	}
	if b.ran >= longRun || lead != 0 {
		s.measures(now)
	}
	if b.ran >= heatAfter {
		if rt.needHeat(now); !hot && !rt.warmth.noHelp(now) {
			runtime.Gosched() // so that temper gets a P
			return
		}
	}
	switch since := now - b.last.Load(); {
	case since >= keepsP && rt.lackP.Load() > 0:
		b.last.Store(now)
		runtime.Gosched()
	case hot && rt.breathes && since >= s.breathEvery():
		s.yield(now)
	}
}

// breathEvery returns how long after its last yield the task yields again.
func (s *strand) breathEvery() int64 {
	breath := int64(s.loop.rt.cfg.Breath)
	if s.shares >= sharedTimes {
		return sharedBreaths * breath
	}
	return breath
}

// yield yields the core at the time now, and records whether another thread has used it for long. A
// breath begins when the task has the core again: two tasks on one core would otherwise yield to
// each other, one of them as soon as it has the core.
func (s *strand) yield(now int64) {
	kernel.YieldCore()
	back := notify.Now()
	s.breath.last.Store(back)
	s.breath.looked = back
	if back-now < int64(s.loop.rt.cfg.Breath)*3/4 {
		s.shares = 0
	} else if s.shares < sharedTimes {
		s.shares++
	}
}
