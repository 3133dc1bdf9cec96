package cocoon

import "time"

// sharers estimates how many goroutines share the processors with a task: the least number that
// wanted a P at the readings of the last few periods, since the task got its slot. The number at
// one reading is too large, because it includes short requests. On one P, all requests that arrive
// in a time slice of 20 ms are ready when the timer gets the P. If a busy task were charged an
// equal share with them, a limit of 100 ms would throw after a second. Goroutines that stay busy
// are there at each reading.
//
// On a busy machine the timer is late, and the last few readings may be 100 ms old. Those from
// before the task got its slot say nothing about it: a crowd of goroutines may have come since.
//
// Only the timer's thread uses it. The zero sharers has no readings.
type sharers struct {
	periods [sharerPeriods]reading // the least of each period; n is 0 in one without a reading
	last    int                    // the current period
	from    int64                  // when it began
	newest  reading
	wanted  int64 // when the next reading is wanted at the latest, because of putOff; 0: none is
}

// reading is how many goroutines wanted a P at a time.
type reading struct{ at, n int64 }

const (
	sharerPeriods = 4
	sharerPeriod  = int64(5 * time.Millisecond)
)

// add adds a reading of n goroutines.
func (c *sharers) add(now, n int64) {
	c.newest = reading{now, max(n, 1)}
	if now >= c.wanted {
		c.wanted = 0
	}
	if now-c.from >= sharerPeriod {
		c.from, c.last = now, (c.last+1)%sharerPeriods
		c.periods[c.last] = c.newest
	} else if p := &c.periods[c.last]; p.n == 0 || c.newest.n < p.n {
		*p = c.newest
	}
}

// least returns the estimate for a task that got its slot at the time begin, or 0 if there are no
// readings at all.
func (c *sharers) least(begin int64) int64 {
	n := c.newest.n
	for _, r := range c.periods {
		if r.n != 0 && r.at >= begin {
			n = min(n, r.n)
		}
	}
	return n
}
