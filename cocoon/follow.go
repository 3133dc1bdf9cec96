package cocoon

import (
	"runtime"
	"time"

	"github.com/cocoon-go/cocoon/internal/kernel"
	"github.com/cocoon-go/cocoon/notify"
)

// The default loop of a Config with Slots 0 has as many slots as the application has processors,
// even when that number changes: Go follows the limits of the process, and so do the slots. The
// runtime does not check the number while no task waits for a slot. While one waits, the runtime
// checks each second, and whenever it becomes hot (warm.go).

const followEvery = int64(time.Second)

// room returns the maximum number of slots of the default loop.
func (c Config) room() int {
	if !c.follows {
		return c.Slots
	}
	return min(max(c.Slots, runtime.NumCPU()), maxSlots)
}

// followSoon starts a goroutine that compares the number of slots with the number of processors,
// unless one has just done so. The caller cannot do it, because reading GOMAXPROCS takes a lock of
// the Go runtime, and the caller holds a loop's lock.
func (rt *Runtime) followSoon(now int64) {
	if at := rt.following.at.Load(); rt.cfg.follows && now-at >= followEvery && rt.following.at.CompareAndSwap(at, now) {
		go func() {
			rt.warmth.mu.Lock()
			defer rt.warmth.mu.Unlock()
			rt.followProcs(notify.Now())
		}()
	}
}

// followProcs gives the default loop a slot for each processor of the application. Called with
// warmth.mu held, and without a loop's lock.
func (rt *Runtime) followProcs(now int64) {
	w := &rt.warmth
	if !rt.cfg.follows || w.ended {
		return
	}
	rt.following.at.Store(now)
	more := rt.Loop().resize(kernel.OwnProcs(), now)
	w.slots += more
	if more != 0 && w.hot.Load() && !rt.cfg.KeepProcs {
		kernel.AddProcs(more)
	}
}

// resize changes the number of usable slots, as far as there is room, and returns how many it has
// added.
func (l *Loop) resize(slots int, now int64) (more int) {
	slots = min(slots, len(l.slots))
	if int32(slots) == l.usable.Load() {
		return 0
	}
	l.lockAll()
	defer l.unlock()
	more = slots - l.core.Slots()
	l.core.Resize(slots, now)
	l.usable.Store(int32(slots))
	l.deliver(now)
	l.retime() // policies may compare with loop.slots
	return more
}
