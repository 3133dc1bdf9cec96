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
