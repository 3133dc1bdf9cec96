package kernel

import (
	"sync"
	"time"
)

// slices counts the hot runtimes of the process that ask for short slices. The last one to
// become cold restores the default.
var slices struct {
	mu    sync.Mutex
	users int
	now   time.Duration
}

// AskSlices asks the kernel for slices of d, and reports whether the kernel complies. If several
// runtimes ask, the shortest d counts.
func AskSlices(d time.Duration) bool {
	slices.mu.Lock()
	defer slices.mu.Unlock()
	if slices.users == 0 || d < slices.now {
		if !setSlices(d) {
			return false
		}
		slices.now = d
	}
	slices.users++
	return true
}

// RenewSlices asks again, for threads started since the last call.
func RenewSlices() {
	slices.mu.Lock()
	defer slices.mu.Unlock()
	setSlices(slices.now)
}

// DropSlices withdraws one request.
func DropSlices() {
	slices.mu.Lock()
	defer slices.mu.Unlock()
	if slices.users--; slices.users == 0 {
		setSlices(0)
	}
}
