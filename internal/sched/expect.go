package sched

import "math/bits"

// left returns how long t, which waits, is still expected to run. It stays the same while t waits.
func (t *Task) left() uint64 { return uint64(max(0, t.Expects-t.account.Running)) }

// span is a sum of times in ns that cannot overflow, whatever tasks declare.
type span struct{ high, low uint64 }

func (s *span) add(d uint64) {
	var carry uint64
	s.low, carry = bits.Add64(s.low, d, 0)
	s.high += carry
}

func (s *span) sub(d uint64) {
	var borrow uint64
	s.low, borrow = bits.Sub64(s.low, d, 0)
	s.high -= borrow
}

// maxExpected bounds a sum: a larger one counts as maxExpected, some 146 years.
const maxExpected = 1 << 62

// Expected returns how long the tasks that wait for a slot are still expected to run, all together,
// by their Expects.
func (c *Core) Expected() int64 {
	if s := c.wait.left; s.high == 0 && s.low < maxExpected {
		return int64(s.low)
	}
	return maxExpected
}
