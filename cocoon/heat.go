package cocoon

import (
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// heat decides whether a runtime is hot: whether it keeps spare Ps, short time slices, the breath
// and a punctual timer. Each has a price that a server of short tasks would pay for nothing
// (docs/design.md, Processors). So a runtime is cold until there is a need, and becomes cold again
// when there was none for a while. heat is pure: times go in, decisions come out.
//
// There is a need when a task has run for heatAfter without a pause, and while policies act on a
// finer clock than Go's timers keep.
type heat struct {
	hot    bool
	needed int64 // when there was a need last
	since  int64 // hot: since when; cold: since when, 0: from the start
	stay   int64 // for how long it stays hot without a need
}

const (
	// heatAfter is how long a task runs until it is a long one. Below that the Go runtime alone is
	// as punctual, or nearly. It is well above what a short task takes that the collector or the
	// kernel interrupts, or else a busy server of short tasks would be hot.
	heatAfter = int64(5 * time.Millisecond)

	// A change stops the world, and waits for a collection under way. So a runtime stays hot for
	// minStay without a need, and when it becomes hot again soon, for twice as long as before.
	minStay = int64(time.Second)
	maxStay = int64(16 * time.Second)

	// soonAgain, in units of stay, is how long it was cold at most when it became hot again soon.
	soonAgain = 4
)

// need notes a need, and reports whether the runtime has become hot by it.
func (h *heat) need(now int64) (change bool) {
	h.needed = max(h.needed, now)
	if h.hot {
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
	if at := h.needed + h.stay; now < at {
		return false, at
	}
	h.hot, h.since = false, now
	return true, notify.Never
}
