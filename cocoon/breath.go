package cocoon

import (
	"sync"
	"time"
)

// Breath: on a busy core the thread that polls the network, or one that has just been handed a request, waits until the
// kernel ends the time slice of the thread that runs a task, which is milliseconds. There are two remedies:
//
//   - Where the kernel lets a thread ask for shorter slices (Linux 6.12 and later), all threads of the process do, once.
//     That costs a running task nothing.
//   - Elsewhere the timer asks each running preemptible task to give its core away for an instant at its next safe
//     point. A tick costs 2 to 20 µs, most of it in the kernel, so these come at most every minYield.
const minYield = 500 * time.Microsecond

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
