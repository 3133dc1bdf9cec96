// Package sketch estimates quantiles of durations over a window that moves with time.
//
// Values are counted in buckets that grow with them, as in DDSketch (Masson, Rim, Lee: DDSketch: A
// Fast and Fully-Mergeable Quantile Sketch with Relative-Error Guarantees, VLDB 2019): here 16 to
// each power of two, which takes no logarithm. An estimate is the middle of the bucket in which the
// quantile lies, so it is off by a 32nd of it at most. The window is cut into parts with a sketch
// each; a sum of all parts answers, from which the oldest is taken when it has passed.
//
// It is pure: no goroutine, lock or clock, and its callers take turns.
package sketch

import "math"

// parts is into how many parts a window is cut. So the values of the last window count, or of up to
// a fifth of it less.
const parts = 5

// Sketch is the distribution of the durations that were added in the last window. It takes memory
// for the range of the values alone, and at most 28 KB.
type Sketch struct {
	length int64 // of a part, in ns
	part   int64 // the number of the one that is being filled
	until  int64 // its end
	fills  int   // its place in filled
	filled [parts]counts[uint32]
	all    counts[uint64]
	n      uint64 // how many there are in all of them
	marks  []mark
}

// mark is where a quantile was found last. It is moved when it is read, in most cases by nothing:
// between two reads a few values come and go.
type mark struct {
	q     float64
	at    int    // a bucket
	below uint64 // how many values are in those before it
}

// New returns an empty sketch over a window, in ns, which answers for the given quantiles.
func New(window int64, quantiles []float64) *Sketch {
	s := &Sketch{length: max(1, window/parts)}
	s.until = s.length
	s.Answer(quantiles)
	return s
}

// Answer says which quantiles will be read, by their places in the list.
func (s *Sketch) Answer(quantiles []float64) {
	s.marks = make([]mark, len(quantiles))
	for i, q := range quantiles {
		s.marks[i].q = q
	}
}

// Add adds a duration. A negative one counts as 0, one beyond Max as Max. A time before the last
// counts as the last.
func (s *Sketch) Add(now, d int64) {
	s.advance(now)
	b := bucket(d)
	at := s.filled[s.fills].at(b)
	if *at == math.MaxUint32 {
		return // of one bucket four milliards in a part of the window are enough
	}
	*at++
	*s.all.at(b)++
	s.n++
	for i := range s.marks {
		if m := &s.marks[i]; b < m.at {
			m.below++
		}
	}
}

// Quantile returns the i-th quantile: the least duration that so many of all are not above. It is 0
// when there are none.
func (s *Sketch) Quantile(now int64, i int) int64 {
	s.advance(now)
	if s.n == 0 {
		return 0
	}
	m := &s.marks[i]
	rank := min(max(1, uint64(math.Ceil(m.q*float64(s.n)))), s.n)
	m.at = min(max(m.at, s.all.low), s.all.low+len(s.all.n))
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

// advance goes on to the part of a time, and drops those that are too old by then.
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
func (s *Sketch) drop(part *counts[uint32]) {
	for i, c := range part.n {
		if c == 0 {
			continue
		}
		b := part.low + i
		*s.all.at(b) -= uint64(c)
		s.n -= uint64(c)
		for k := range s.marks {
			if m := &s.marks[k]; b < m.at {
				m.below -= uint64(c)
			}
		}
	}
	clear(part.n)
}
