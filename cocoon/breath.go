package cocoon

import (
	"runtime"
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// Breath: on a busy core the thread that polls the network, or one that has just been handed a
// request, waits until the kernel ends the time slice of the thread that runs a task, which is
// milliseconds. There are two remedies, and neither alone is enough (docs/design.md). Both are for
// hot runtimes only:
//
//   - Where the kernel lets a thread ask for shorter slices (Linux 6.12 and later), all threads of
//     the process do. That costs a running task nothing, but the kernel looks at the slices at its
//     own ticks only. The timer's thread has the shortest there is (package notify), so that it
//     need not wait for the others' to end.
//   - A task gives its core away for an instant, at a SafePoint, when a breath has passed since it
//     did; its slot it keeps. It looks at the clock itself, every so many safe points. The timer
//     could ask it to, but a tick takes a core 15 to 25 µs on virtual machines, ten times what the
//     yield takes.

// breather is a task's sense of time at its safe points.
type breather struct {
	left countdown // safe points until the next look at the clock

	// Owned by the task's goroutine.
	stride int32 // of left, at the last look
	looked int64 // when it last looked; 0: not in this task
	last   int64 // when it last yielded
	base   int64 // strand.runBase at the last look: it changes when the task has paused
	ran    int64 // for how long the task has run since it paused, as far as its looks have seen
}

const (
	// sliceBreaths is how long the slices are that the kernel is asked for, in breaths. With slices
	// of one breath a server that says hello has twice the switches between threads, and gets of
	// examples/hol are no sooner; with ten, pings of examples/redos, whose handlers wait for the
	// slices of code that knows no SafePoint, are later.
	sliceBreaths = 3

	// looks is how often a task looks at the clock, in a breath.
	looks = 4

	// coldLook is how often it does while the runtime is cold, to find out that it runs long. A
	// task that passes safe points more seldom is taken to have run for that long between two: it
	// may have waited unannounced meanwhile.
	coldLook = int64(500 * time.Microsecond)

	maxStride = 1 << 16
)

// begin prepares for a new task.
func (b *breather) begin() {
	b.left.set(0)
	b.stride, b.looked, b.ran = 0, 0, 0
}

// breathe looks at the clock, notes that the task runs long, and gives the core away if it is time.
// Called by the task's goroutine.
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
		yieldCore()
	}
}

// threadSlices is the wish for short slices of all hot runtimes of the process together. The last
// one to become cold takes it back.
var threadSlices struct {
	mu    sync.Mutex
	users int
	now   time.Duration
}

// askSlices asks the kernel for slices of d, and reports whether it will have them. The shortest
// wish of several runtimes counts.
func askSlices(d time.Duration) bool {
	threadSlices.mu.Lock()
	defer threadSlices.mu.Unlock()
	if threadSlices.users == 0 || d < threadSlices.now {
		if !setSlices(d) {
			return false
		}
		threadSlices.now = d
	}
	threadSlices.users++
	return true
}

// renewSlices asks again, for the threads that have started since.
func renewSlices() {
	threadSlices.mu.Lock()
	defer threadSlices.mu.Unlock()
	setSlices(threadSlices.now)
}

// dropSlices takes one wish back.
func dropSlices() {
	threadSlices.mu.Lock()
	defer threadSlices.mu.Unlock()
	if threadSlices.users--; threadSlices.users == 0 {
		setSlices(0)
	}
}
