package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// heat decides whether a runtime is hot. A hot runtime keeps spare Ps, short time slices, the
// breath and a punctual timer. Each has a price, from which a server of short tasks would not
// benefit (docs/design.md, Processors). So a runtime is cold until there is a need, and becomes
// cold again when there was no need for a while. heat is pure: its inputs are times, its outputs
// decisions.
//
// There is a need when a task has run for heatAfter without a pause, and while policies act on a
// finer clock than Go's timers keep. While the process is saturated, heat would be no help, and the
// runtime is cold, unless policies have a fine clock (saturation.go).
type heat struct {
	hot    bool
	full   bool  // the process is saturated
	needed int64 // when there was last a need
	since  int64 // when it became hot or cold; 0: cold from the start
	stay   int64 // how long it stays hot without a need
}

const (
	// heatAfter is how long a task must run to count as long. Below that the Go runtime alone is as
	// punctual, or nearly. It is well above the time of a short task that the garbage collector or
	// the kernel interrupts, because otherwise a busy server of short tasks would be hot.
	heatAfter = int64(5 * time.Millisecond)

	// A change stops the world, and waits for a garbage collection in progress. So a runtime stays
	// hot for minStay without a need. If it becomes hot again soon, it then stays hot for twice as
	// long as before.
	minStay = int64(time.Second)
	maxStay = int64(16 * time.Second)

	// soonAgain is the longest cold time, in units of stay, after which becoming hot counts as
	// soon.
	soonAgain = 4
)

// need records a need, and reports whether the runtime has become hot because of it.
func (h *heat) need(now int64) (change bool) {
	h.needed = max(h.needed, now)
	if h.hot || h.full {
		return false
	}
	switch again := h.since != 0 && now-h.since < soonAgain*h.stay; {
	case again:
		h.stay = min(2*h.stay, maxStay)
	default:
		h.stay = minStay
	}
	h.hot, h.since = true, now
	return true
}

// cool reports whether the runtime becomes cold now, and when to ask again.
func (h *heat) cool(now int64) (change bool, next int64) {
	if !h.hot {
		return false, notify.Never
	}
	if at := h.needed + h.stay; now < at && !h.full {
		return false, at
	}
	h.hot, h.since = false, now
	return true, notify.Never
}
