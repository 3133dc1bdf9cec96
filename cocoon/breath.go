package cocoon

import (
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// Breath: on a busy core the thread that polls the network, or one that has just been handed a request, waits until the
// kernel ends the time slice of the thread that runs a task, which is milliseconds. There are two remedies, and neither
// alone is enough (docs/design.md):
//
//   - Where the kernel lets a thread ask for shorter slices (Linux 6.12 and later), all threads of the process do, once.
//     That costs a running task nothing, but the kernel looks at the slices at its own ticks only. The timer's thread has
//     the shortest there is (package notify), so that it need not wait for the others' to end.
//   - A task gives its core away for an instant, at a SafePoint, when a breath has passed since it did; its slot it
//     keeps. It looks at the clock itself, every so many safe points. The timer could ask it to, but a tick takes a core 15 to
//     25 µs on virtual machines, ten times what the yield takes.

// breather is a task's sense of time at its safe points. The counters are atomic because a context may be passed to
// another goroutine, whose safe points count like the task's own.
type breather struct {
	polls  atomic.Uint32 // safe points since the last look at the clock
	stride atomic.Uint32 // after how many it looks again

	// Owned by the task's goroutine.
	looked int64 // when it last looked
	last   int64 // when it last yielded
}

// sliceBreaths is how long the slices are that the kernel is asked for, in breaths. With slices of one breath a server that
// says hello has twice the switches between threads, and gets of examples/hol are no sooner; with ten, pings of examples/redos,
// whose handlers wait for the slices of code that knows no SafePoint, are later.
const sliceBreaths = 3

// looks is how often a task looks at the clock, in a breath.
const looks = 4

// begin prepares for a new task, that breathes or does not.
func (b *breather) begin(breathes bool) {
	stride := uint32(1)
	if !breathes {
		stride = math.MaxUint32
	}
	if b.stride.Load() != stride { // a store costs more
		b.stride.Store(stride)
	}
}

// poll counts a safe point, and reports whether it is time to look at the clock.
func (b *breather) poll() bool { return b.polls.Add(1) >= b.stride.Load() }

// breathe looks at the clock, and gives the core away if it is time. Called by the task's goroutine.
func (s *strand) breathe() {
	b, breath := &s.breath, int64(s.loop.rt.cfg.Breath)
	if !s.loop.rt.breathes {
		return
	}
	now := notify.Now()
	n, elapsed := int64(b.polls.Swap(0)), max(1, now-b.looked)
	b.stride.Store(uint32(min(max(1, n*breath/looks/elapsed), 1<<16)))
	b.looked = now
	if now-b.last >= breath {
		b.last = now
		yieldCore()
	}
}

// threadSlices is the wish for short slices of all runtimes of the process together. The last one to go takes it back.
var threadSlices struct {
	mu    sync.Mutex
	users int
	now   time.Duration
}

// askSlices asks the kernel for slices of d, and reports whether it will have them. The shortest wish of several
// runtimes counts.
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

// dropSlices takes one wish back.
func dropSlices() {
	threadSlices.mu.Lock()
	defer threadSlices.mu.Unlock()
	if threadSlices.users--; threadSlices.users == 0 {
		setSlices(0)
	}
}
