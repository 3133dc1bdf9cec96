package cocoon

import (
	"runtime"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/notify"
)

// Breath: on a busy core the thread that polls the network, or a thread that has just received a
// request, waits until the kernel ends the time slice of the thread that runs a task, which takes
// milliseconds. There are two remedies, and neither suffices alone (docs/design.md). Both apply to
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

// breather keeps track of time for a task, at its safe points.
type breather struct {
	left countdown // safe points until the next reading of the clock

	// Owned by the task's goroutine.
	stride int32 // the value of left after the last reading
	looked int64 // time of the last reading; 0: none in this task
	last   int64 // when it last yielded
	base   int64 // strand.runBase at the last reading: it changes when the task pauses
	ran    int64 // how long the task has run since it paused, as far as its readings show
}

const (
	// sliceBreaths is the length of the slices requested from the kernel, in breaths. With slices
	// of one breath, a server that only says hello has twice as many switches between threads, and
	// the gets of examples/hol are no faster. With ten, the pings of examples/redos are later,
	// because their handlers wait for the slices of code without SafePoints.
	sliceBreaths = 3

	// looks is how often a task reads the clock in a breath.
	looks = 4

	// coldLook is how often a task reads the clock while the runtime is cold, to find out whether
	// it runs long. If a task passes safe points less often, it counts as having run for coldLook
	// between two of them, because it may have waited unannounced meanwhile.
	coldLook = int64(500 * time.Microsecond)

	maxStride = 1 << 16
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
	if base := s.runBase.Load(); base != b.base || b.looked == 0 {
		b.base, b.ran, b.stride = base, 0, 0
	} else {
		elapsed, polls := max(1, now-b.looked), int64(b.stride-b.left.get())
		b.ran += min(elapsed, coldLook)
		b.stride = int32(min(max(0, polls*every/elapsed-1), maxStride))
	}
	b.left.set(b.stride)
	b.looked = now
	if b.ran >= heatAfter {
		if rt.needHeat(now); !hot {
			runtime.Gosched() // so that temper gets a P
			return
		}
	}
	if hot && rt.breathes && now-b.last >= int64(rt.cfg.Breath) {
		b.last = now
		kernel.YieldCore()
	}
}
