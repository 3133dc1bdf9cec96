// Package notify brings the two kinds of notification about: ticks, by a timer that keeps its time
// however busy the process is, and events, by a hub that knows who listens to what.
package notify

import (
	"math"
	"time"
)

// Never is a time that does not come.
const Never = math.MaxInt64

var base = time.Now().Add(-time.Nanosecond)

// Now returns the time in nanoseconds on the clock that everything in Cocoon uses: monotonic,
// positive, and starting near zero with the process. In a bubble of testing/synctest it is real
// time all the same. It costs one reading of the system's clock, about 25 ns (BenchmarkNow).
func Now() int64 {
	now, _ := Clock()
	return now
}
