package analyzer

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/ir"
)

// search looks for bounds of single clocks for ways without a clock: the greatest value of a clock
// up to which the program, followed forwards, can only continue. So it finds bounds that cannot be
// derived backwards from a condition, as in task.running * 2 > duration("1s").
func (w *ways) search() {
	for _, r := range w.a.p.Reads {
		if !rises(r.Stub) {
			continue
		}
		bound := leastBound(w.a.p, r)
		if bound == 0 {
			continue
		}
		found := w.found
		w.found = nil
		for _, way := range found {
			if !slices.ContainsFunc(way.Clocks, func(c Clock) bool { return c.Read.Offset == r.Offset }) {
				way.Clocks = append(slices.Clip(way.Clocks), Clock{r, bound})
			}
			w.add(way)
		}
	}
}

// leastBound returns a value of the clock below which the program can only continue, or 0.
func leastBound(p *ir.Program, r ir.Read) int64 {
	quiet := func(most int64) bool {
		return onlyContinues(p, func(f *facts) {
			f.learn(f.read(r), intValue(r.Type, interval{lo: 0, hi: most}))
		})
	}
	if !quiet(0) {
		return 0
	}
	low, high := int64(0), int64(unlimited)
	for high-low > 1 {
		if middle := low + (high-low)/2; quiet(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low + 1
}
