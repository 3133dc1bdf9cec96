package keyed

import (
	"math"
	"time"
)

// Tokens returns what is in a token bucket now. Its word in a table is the tokens that the last
// take left, as a float64; since then, which was at the given time, rate of them have come a
// second, up to burst. A bucket that is not in the table is full.
func Tokens(left uint64, at, now int64, rate, burst float64) float64 {
	return min(burst, math.Float64frombits(left)+rate*time.Duration(max(0, now-at)).Seconds())
}
