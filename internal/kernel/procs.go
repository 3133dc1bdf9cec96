package kernel

import (
	"os"
	"runtime"
	"strconv"
	"sync"
)

// SparePs is how many Ps the process has in addition to its busy slots while a runtime is hot, see
// cocoon.SparePs.
const SparePs = 2

// procs raises GOMAXPROCS for all hot runtimes of the process together. The last runtime to become
// cold restores it. Changing GOMAXPROCS stops the world, and waits for a garbage collection in
// progress. So no caller holds a loop's lock, or runs on a timer's thread.
var procs struct {
	mu      sync.Mutex
	slots   int  // of all hot runtimes
	busy    int  // goroutines as busy as tasks; each has a P in addition to the spare ones
	own     int  // GOMAXPROCS without Cocoon
	set     int  // GOMAXPROCS as set here; if it differs, the application changed it
	follows bool // own is Go's choice, which follows the limits of the process
}

// AddProcs adds n slots of hot runtimes; n may be negative.
func AddProcs(n int) {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	if procs.slots == 0 {
		learnProcs()
	}
	procs.slots += n
	raiseProcs()
}

// SpareProc reserves a P, until done is called, for a goroutine of the runtime's own that runs for
// longer than Go lets a goroutine run. Otherwise other goroutines would wait for its P. SpareProc
// does nothing while no runtime is hot.
func SpareProc() (done func()) {
	add := func(n int) {
		procs.mu.Lock()
		defer procs.mu.Unlock()
		if procs.busy += n; procs.slots > 0 {
			raiseProcs()
		}
	}
	add(1)
	return func() { add(-1) }
}

// RenewProcs finds out whether the limits of the process have changed, and changes GOMAXPROCS
// accordingly. Only Go knows how it chooses GOMAXPROCS, so RenewProcs lets Go choose for a moment.
func RenewProcs() {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	if procs.slots == 0 || !procs.follows || runtime.GOMAXPROCS(0) != procs.set {
		return
	}
	runtime.SetDefaultGOMAXPROCS()
	procs.own = runtime.GOMAXPROCS(0)
	procs.set = procs.own
	raiseProcs()
}

// raiseProcs sets GOMAXPROCS to what the hot runtimes need. Called with procs.mu held.
func raiseProcs() {
	if runtime.GOMAXPROCS(0) != procs.set {
		return // the application has changed it since
	}
	want := procs.own
	if procs.slots > 0 {
		want = max(want, wantedProcs(procs.own, procs.slots)+procs.busy)
	}
	switch {
	case want == procs.set:
	case want == procs.own && procs.follows:
		runtime.SetDefaultGOMAXPROCS() // GOMAXPROCS(own) would stop Go from following the limits
		procs.own = runtime.GOMAXPROCS(0)
		want = procs.own
	default:
		runtime.GOMAXPROCS(want)
	}
	procs.set = want
}

// wantedProcs returns how many Ps that many slots need. Slots beyond the number of processors need
// no more Ps: the garbage collector looks at each P, and with 1000 Ps a collection takes 88 ms.
func wantedProcs(own, slots int) int { return max(own, min(slots, own)+SparePs) }

// learnProcs finds out the value of GOMAXPROCS without Cocoon, and whether Go has chosen it. Go has
// chosen it if it equals what Go chooses now. Called with procs.mu held, while no runtime is hot.
func learnProcs() {
	now := runtime.GOMAXPROCS(0)
	asBefore := procs.follows && now == procs.own
	procs.own, procs.set, procs.follows = now, now, false
	if n, err := strconv.Atoi(os.Getenv("GOMAXPROCS")); err == nil && n > 0 {
		return // Go follows no limits in this case
	}
	runtime.SetDefaultGOMAXPROCS() // changes nothing if Go had chosen it
	switch chosen := runtime.GOMAXPROCS(0); {
	case chosen == now || asBefore: // otherwise the limits have changed, and Go was about to notice
		procs.own, procs.set, procs.follows = chosen, chosen, true
	default:
		runtime.GOMAXPROCS(now)
	}
}

// OwnProcs returns GOMAXPROCS as the application sees it: without the spare Ps of hot runtimes.
func OwnProcs() int {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	if now := runtime.GOMAXPROCS(0); procs.slots == 0 || now != procs.set {
		return now
	}
	return procs.own
}
