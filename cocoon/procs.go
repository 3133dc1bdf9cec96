package cocoon

import (
	"os"
	"runtime"
	"strconv"
	"sync"
)

// SparePs is how many Ps the process has above its busy slots while a runtime is hot: one for the
// network poller, one that the timer's thread takes along into its sleep. Without them a ready
// connection waits until a task ends or sysmon interrupts it, 10 ms later (bench: procs).
const SparePs = 2

// procs raises GOMAXPROCS for all hot runtimes of the process together. The last one to become cold
// puts it back. To change GOMAXPROCS stops the world, and waits for a collection under way: no
// caller holds a loop's lock, or runs on a timer's thread.
var procs struct {
	mu      sync.Mutex
	slots   int  // of all hot runtimes
	busy    int  // goroutines that are as busy as tasks for a while, and have a P each beside the spare ones
	own     int  // GOMAXPROCS without Cocoon
	set     int  // what it is by our doing; when the application changed it since, it is left alone
	follows bool // own is Go's choice, which follows the limits of the process
}

// addProcs accounts for n more slots of hot runtimes, or fewer when n is negative.
func addProcs(n int) {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	if procs.slots == 0 {
		learnProcs()
	}
	procs.slots += n
	raiseProcs()
}

// spareProc gives a goroutine of the runtime's own, which is busy for longer than Go lets a
// goroutine run, a P until done is called; or others would wait for the P that it keeps. It does
// nothing while no runtime is hot.
func spareProc() (done func()) {
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

// renewProcs learns whether the process has other limits than before, and changes GOMAXPROCS
// accordingly. Only Go knows how it chooses, so it is let choose for a moment.
func renewProcs() {
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

// raiseProcs makes GOMAXPROCS what the hot runtimes need. Called with procs.mu held.
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
		runtime.SetDefaultGOMAXPROCS() // GOMAXPROCS(own) would end Go's following of the limits
		procs.own = runtime.GOMAXPROCS(0)
		want = procs.own
	default:
		runtime.GOMAXPROCS(want)
	}
	procs.set = want
}

// wantedProcs returns how many Ps so many slots need. More slots than the process has processors
// are no reason for more Ps: the collector looks at each of them, and 1000 make a collection take
// 88 ms.
func wantedProcs(own, slots int) int { return max(own, min(slots, own)+SparePs) }

// learnProcs finds out what GOMAXPROCS is without Cocoon, and whether Go has chosen it: then it
// equals what Go chooses now. Called with procs.mu held, while no runtime is hot.
func learnProcs() {
	now := runtime.GOMAXPROCS(0)
	asBefore := procs.follows && now == procs.own
	procs.own, procs.set, procs.follows = now, now, false
	if n, err := strconv.Atoi(os.Getenv("GOMAXPROCS")); err == nil && n > 0 {
		return // Go follows no limits then
	}
	runtime.SetDefaultGOMAXPROCS() // changes nothing where Go has chosen already
	switch chosen := runtime.GOMAXPROCS(0); {
	case chosen == now || asBefore: // else the limits have changed, and Go was about to notice
		procs.own, procs.set, procs.follows = chosen, chosen, true
	default:
		runtime.GOMAXPROCS(now)
	}
}

// ownProcs is GOMAXPROCS as the application sees it: without the spares that hot runtimes have
// added.
func ownProcs() int {
	procs.mu.Lock()
	defer procs.mu.Unlock()
	if now := runtime.GOMAXPROCS(0); procs.slots == 0 || now != procs.set {
		return now
	}
	return procs.own
}
