package cocoon

import "testing"

// Short requests that are ready at a reading are not there at all of them. A crowd that stays
// counts, and a crowd that has left does not. What was read before the task got its slot does
// not count.
func TestSharers(t *testing.T) {
	const p = sharerPeriod
	for name, c := range map[string]struct {
		readings map[int64]int64 // after so many periods
		begin    int64
		want     int64
	}{
		"the first reading counts":  {map[int64]int64{1: 30}, 0, 30},
		"one busy task, short ones": {map[int64]int64{1: 6, 2: 17, 3: 1, 4: 12, 5: 9}, 0, 1},
		"a crowd":                   {map[int64]int64{1: 31, 2: 30, 3: 32, 4: 31, 5: 33, 6: 32}, 0, 31},
		"a crowd has come":          {map[int64]int64{1: 1, 2: 30, 3: 31, 4: 32, 5: 31}, 0, 30},
		"a crowd has left":          {map[int64]int64{1: 30, 2: 31, 3: 30, 4: 2}, 0, 2},
		"late, before the task":     {map[int64]int64{1: 1, 20: 32, 26: 33}, 15, 32},
		"just before the task":      {map[int64]int64{1: 1, 2: 32, 3: 33}, 2, 32},
		"nothing is known":          {map[int64]int64{1: 0}, 0, 1},
		"no reading":                {nil, 0, 0},
	} {
		var s sharers
		for i := range int64(30) {
			if n, ok := c.readings[i]; ok {
				s.add(i*p, n)
			}
		}
		if got := s.least(c.begin * p); got != c.want {
			t.Errorf("%s: %d; want %d", name, got, c.want)
		}
	}
	var s sharers
	for _, n := range []int64{9, 4, 7} { // in one period
		s.add(p, n)
	}
	if n := s.least(0); n != 4 {
		t.Errorf("%d; want the least of the period, 4", n)
	}
}
