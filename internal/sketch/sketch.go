// Package sketch estimates quantiles of durations over a moving window.
//
// Values are counted in buckets that widen with the value, as in DDSketch (Masson, Rim, Lee:
// DDSketch: A Fast and Fully-Mergeable Quantile Sketch with Relative-Error Guarantees, VLDB 2019);
// here there are 16 to each power of two, which needs no logarithm. An estimate is the middle of
// the quantile's bucket, so its error is at most a 32nd. The window is divided into parts with a
// sketch each. Quantiles are read from the sum of all parts, and the oldest part is subtracted when
// it has passed.
//
// The package is pure: it has no goroutine, lock or clock, and its callers serialise its use.
package sketch

import "math"

// parts is the number of parts of a window. The values of the last window count, or of up to a
// fifth less.
const parts = 5

// Sketch is the distribution of the durations added in the last window. Its size depends on the
// range of the values, and is at most 28 KB.
type Sketch struct {
	length int64 // of a part, in ns
	part   int64 // the number of the current part
	until  int64 // its end
	fills  int   // its place in filled
	filled [parts]Counts[uint32]
	all    Counts[uint64]
	n      uint64 // the sum of all counts
	marks  []mark
}

// mark is the place of the last result for a quantile. A read moves it, in most cases by nothing,
// because few values change between two reads.
type mark struct {
	q     float64
	at    int    // a bucket
	below uint64 // the number of values in the buckets before it
}

// New returns an empty sketch over a window, in ns, for the given quantiles.
func New(window int64, quantiles []float64) *Sketch {
	s := &Sketch{length: max(1, window/parts)}
	s.until = s.length
	s.Answer(quantiles)
	return s
}

// Answer sets the quantiles that will be read, by their places in the list.
func (s *Sketch) Answer(quantiles []float64) {
	s.marks = make([]mark, len(quantiles))
	for i, q := range quantiles {
		s.marks[i].q = q
	}
}

// Add adds a duration. A negative one counts as 0, and one greater than Max as Max. A time before
// the last one counts as the last one.
func (s *Sketch) Add(now, d int64) {
	s.advance(now)
	b := bucket(d)
	at := s.filled[s.fills].At(b)
	if *at == math.MaxUint32 {
		return // a bucket's count is limited to 2^32-1 in a part of the window
	}
	*at++
	*s.all.At(b)++
	s.n++
	for i := range s.marks {
		if m := &s.marks[i]; b < m.at {
			m.below++
		}
	}
}

// Quantile returns the i-th quantile: the least duration that the quantile's share of all durations
// does not exceed. It is 0 for an empty sketch.
func (s *Sketch) Quantile(now int64, i int) int64 {
	s.advance(now)
	if s.n == 0 {
		return 0
	}
	m := &s.marks[i]
	rank := min(max(1, uint64(math.Ceil(m.q*float64(s.n)))), s.n)
	m.at = min(max(m.at, s.all.Low), s.all.Low+len(s.all.N))
	for m.below >= rank {
		m.at--
		m.below -= s.all.count(m.at)
	}
	for c := s.all.count(m.at); m.below+c < rank; c = s.all.count(m.at) {
		m.below += c
		m.at++
	}
	return middle(m.at)
}

// advance moves to the part of the given time, and drops the expired parts.
func (s *Sketch) advance(now int64) {
	if now < s.until {
		return
	}
	part := now / s.length
	for i := range min(part-s.part, parts) {
		s.drop(&s.filled[(part-i)%parts])
	}
	s.part, s.fills = part, int(part%parts)
	if s.until = (part + 1) * s.length; s.until < 0 {
		s.until = math.MaxInt64
	}
}

// drop empties a part.
func (s *Sketch) drop(part *Counts[uint32]) {
	for i, c := range part.N {
		if c == 0 {
			continue
		}
		b := part.Low + i
		*s.all.At(b) -= uint64(c)
		s.n -= uint64(c)
		for k := range s.marks {
			if m := &s.marks[k]; b < m.at {
				m.below -= uint64(c)
			}
		}
	}
	clear(part.N)
}
