package keyed

import (
	"math"
	"time"
)

// Tokens returns the tokens in a bucket at the time now. The bucket's word in a table is the number
// of tokens that the last take left at the time at, as a float64. Since then rate tokens have come
// each second, up to burst. A bucket that is not in the table is full.
//
// A number within a billionth of a whole number is that number. Otherwise rounding would refuse a
// token in the very nanosecond in which it is due, and a client that keeps exactly to the rate.
func Tokens(left uint64, at, now int64, rate, burst float64) float64 {
	tokens := math.Float64frombits(left) + rate*time.Duration(max(0, now-at)).Seconds()
	if tokens >= burst { // as of most buckets
		return burst
	}
	if whole := math.RoundToEven(tokens); math.Abs(tokens-whole) < 1e-9 {
		return min(burst, whole)
	}
	return tokens
}
