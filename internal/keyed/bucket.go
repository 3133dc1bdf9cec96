package keyed

import (
	"math"
	"time"
)

// A bucket is a word of a table: the tokens that its last take left, as a float64. The time since
// has refilled it.

// Bucket returns the tokens of the bucket of a key, and uses the key. A bucket that is not there is
// full.
func (t *Table) Bucket(key uint64, now int64, rate, burst float64) float64 {
	word, at, ok := t.Get(key, now)
	return tokens(word, at, ok, now, rate, burst)
}

// PeekBucket is Bucket, and changes nothing.
func (t *Table) PeekBucket(key uint64, now int64, rate, burst float64) float64 {
	word, at, ok := t.Peek(key, now)
	return tokens(word, at, ok, now, rate, burst)
}

// tokens refills what was left at a moment, rate a second, up to burst.
func tokens(left uint64, at int64, ok bool, now int64, rate, burst float64) float64 {
	if !ok {
		return burst
	}
	return min(burst, math.Float64frombits(left)+rate*time.Duration(now-at).Seconds())
}
