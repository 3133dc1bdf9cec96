package cocoon

import (
	"runtime"
	"sync"
)

// SparePs is how many Ps the process has above its slots while a runtime lives: one for the network poller, one that the
// timer thread takes along into its sleep. Without them a ready connection waits until a task ends or sysmon
// interrupts it, 10 ms later (bench: procs).
const SparePs = 2

// procs raises GOMAXPROCS for all runtimes of the process together. The last one to go puts it back.
var procs struct {
	mu       sync.Mutex
	slots    int // of all live loops
	original int // GOMAXPROCS before the first raise
	set      int // what we set; when the application changed it since, it is left alone
}

// addProcs accounts for n more slots, or fewer when n is negative.
func addProcs(n int) {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	now := runtime.GOMAXPROCS(0)
	if procs.slots == 0 {
		procs.original, procs.set = now, now
	}
	procs.slots += n
	if now != procs.set {
		return
	}
	want := procs.original
	if procs.slots > 0 {
		want = max(want, procs.slots+SparePs)
	}
	if want != now {
		runtime.GOMAXPROCS(want)
	}
	procs.set = want
}
