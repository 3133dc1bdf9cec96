package sketch

import "math/bits"

// Max is the greatest distinct duration, in ns: 146 years.
const Max = 1 << 62

// fine is the number of buckets for each power of two. Durations below 2*fine have one each.
const fine = 16

// bucket returns the number of the bucket for d.
func bucket(d int64) int {
	v := uint64(min(max(d, 0), Max))
	if v < 2*fine {
		return int(v)
	}
	e := bits.Len64(v) - bits.Len64(2*fine-1) // so that v>>e is fine to 2*fine-1
	return 2*fine + (e-1)*fine + int(v>>e) - fine
}

// middle returns the duration that represents a bucket.
func middle(b int) int64 {
	if b < 2*fine {
		return int64(b)
	}
	e := (b-2*fine)/fine + 1
	low := uint64((b-2*fine)%fine+fine) << e
	return int64(min(low+1<<e/2, Max))
}

// counts are the counts of a range of buckets that includes all nonzero ones.
type counts[N uint32 | uint64] struct {
	low int // the bucket of n[0]
	n   []N
}

// at returns the counter of a bucket, and makes room for it.
func (c *counts[N]) at(b int) *N {
	if i := b - c.low; i >= 0 && i < len(c.n) {
		return &c.n[i]
	}
	c.widen(b)
	return &c.n[b-c.low]
}

// widen makes room for a bucket, and for some buckets next to it, because related values are often
// close to each other.
func (c *counts[N]) widen(b int) {
	low, high := b&^(fine-1), b|(fine-1)
	if len(c.n) > 0 {
		low, high = min(low, c.low), max(high, c.low+len(c.n)-1)
	}
	wider := make([]N, high-low+1)
	copy(wider[max(0, c.low-low):], c.n)
	c.low, c.n = low, wider
}

// count returns the count of a bucket.
func (c *counts[N]) count(b int) N {
	if i := b - c.low; i >= 0 && i < len(c.n) {
		return c.n[i]
	}
	return 0
}
