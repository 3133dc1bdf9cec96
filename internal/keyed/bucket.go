package keyed

import (
	"math"
	"time"
)

// Tokens returns the number of tokens in a token bucket now. left is the bucket's word in a table,
// the tokens after its last take as a float64, and at is the time of the take. Since then rate
// tokens per second have been added, up to burst. A bucket without an entry in the table is full.
func Tokens(left uint64, at, now int64, rate, burst float64) float64 {
	return min(burst, math.Float64frombits(left)+rate*time.Duration(max(0, now-at)).Seconds())
}
