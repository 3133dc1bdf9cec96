package sketch

// Counts are the counts of a range of buckets that includes all nonzero ones. Numbers of buckets
// may be negative. The zero Counts is empty and has no memory.
type Counts[C uint32 | int64 | uint64] struct {
	Low int // the bucket of N[0]
	N   []C
}

// At returns the counter of a bucket, and makes room for it.
func (c *Counts[C]) At(b int) *C {
	if i := b - c.Low; i >= 0 && i < len(c.N) {
		return &c.N[i]
	}
	c.widen(b)
	return &c.N[b-c.Low]
}

// widen makes room for a bucket, and for some buckets next to it, because related values are often
// close to each other.
func (c *Counts[C]) widen(b int) {
	low, high := b&^(fine-1), b|(fine-1)
	if len(c.N) == 0 {
		c.Low = low
	}
	low, high = min(low, c.Low), max(high, c.Low+len(c.N)-1)
	wider := make([]C, high-low+1)
	copy(wider[c.Low-low:], c.N)
	c.Low, c.N = low, wider
}

// count returns the count of a bucket.
func (c *Counts[C]) count(b int) C {
	if i := b - c.Low; i >= 0 && i < len(c.N) {
		return c.N[i]
	}
	return 0
}
