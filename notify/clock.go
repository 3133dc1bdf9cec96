// Package notify implements the two kinds of notification, ticks and events.
//
// # Ticks
//
// A [Timer] calls a function at chosen times, and keeps its time however busy the process is.
//
// # Events
//
// A [Hub] knows the listeners of each event. Raising an event without listeners is one atomic load.
package notify

import (
	"math"
	"time"
)

// Never is a time in the unreachable future.
const Never = math.MaxInt64

var base = time.Now().Add(-time.Nanosecond)

// Now returns the time in nanoseconds on the clock that all of Cocoon uses: monotonic, positive,
// and starting near zero with the process. It is real time even in a bubble of testing/synctest. It
// costs one reading of the system's clock, about 25 ns (BenchmarkNow).
func Now() int64 {
	now, _ := Clock()
	return now
}
