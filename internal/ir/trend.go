package ir

import (
	"math"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

// Trend is the history of a state that one rate("state", window) or average("state", window) needs.
// Times are nanoseconds of one clock, which may leap: a time before the last one counts as the last
// one. A Trend has a fixed size, and no call takes longer than some hundred nanoseconds.
type Trend struct {
	of     stubs.Type // the state's
	mean   bool       // it is an average
	window int64

	now    int64 // the latest time
	growth growth
	course course
}

// NewTrend returns the trend for the read r of a state of the type, which has the given word now.
func NewTrend(r Read, of stubs.Type, now int64, word uint64) Trend {
	t := Trend{of: of, mean: r.Stub == stubs.StateAverage, window: int64(r.Window), now: now}
	t.Restart(now, word)
	return t
}

// Restart forgets the history. It begins again with a word of the state.
func (t *Trend) Restart(now int64, word uint64) {
	t.now = max(t.now, now)
	t.growth = growth{begin: t.now, first: word, step: t.now / (t.window / steps)}
	t.course = course{}
}

// Wrote records that the state changed from the word was to the word is.
func (t *Trend) Wrote(now int64, was, is uint64) {
	t.now = max(t.now, now)
	if t.mean {
		t.course.add(t.now, t.number(is), t.window)
	} else {
		t.growth.advance(t.now, was, t.window/steps)
	}
}

// Value returns the word that the policy reads while the state has the given word.
func (t *Trend) Value(now int64, word uint64) uint64 {
	t.now = max(t.now, now)
	if !t.mean {
		return math.Float64bits(t.perSecond(word))
	}
	switch {
	case t.course.weight == 0 && t.of == AverageType(t.of): // never written: this is its only value
		return word
	case t.course.weight == 0:
		return math.Float64bits(t.number(word))
	case HasUnit(t.of):
		return uint64(nearest(t.course.mean))
	}
	return math.Float64bits(t.course.mean)
}

// number returns a word of the state as a float.
func (t *Trend) number(word uint64) float64 {
	if t.of == stubs.Float {
		return math.Float64frombits(word)
	}
	return float64(int64(word))
}

// nearest returns the integer nearest to f, which must not be NaN.
func nearest(f float64) int64 {
	switch f = math.Round(f); {
	case f >= 1<<63:
		return math.MaxInt64
	case f <= -1<<63:
		return math.MinInt64
	}
	return int64(f)
}

// steps is the number of parts of a window that a rate distinguishes.
const steps = 64

// growth remembers the words that a state had at the beginnings of the last steps. A state is
// constant between two writes, so updating growth at writes and reads is enough.
type growth struct {
	begin int64  // when
	first uint64 // the word then
	step  int64  // the step that was reached
	at    [steps + 1]uint64
}

// indexOf is the index of the word at the beginning of a step.
func indexOf(step int64) uint64 { return uint64(step) % (steps + 1) }

// advance moves to now; until now the state had the given word.
func (g *growth) advance(now int64, word uint64, length int64) {
	step := now / length
	for i := max(g.step+1, step-steps); i <= step; i++ {
		g.at[indexOf(i)] = word
	}
	g.step = step
}

// perSecond returns the growth of the state per second, since the last step that began before the
// window or since the trend began, whichever is later.
func (t *Trend) perSecond(word uint64) float64 {
	g, length := &t.growth, t.window/steps
	g.advance(t.now, word, length)
	since, then := g.begin, g.first
	if i := g.step - steps; i*length > g.begin {
		since, then = i*length, g.at[indexOf(i)]
	}
	over := time.Duration(max(t.now-since, length)).Seconds()
	return t.difference(word, then) / over
}

// difference returns a - b, of durations in seconds. It rounds neither a nor b if they are integers
// and the result does not overflow.
func (t *Trend) difference(a, b uint64) float64 {
	d := int64(a) - int64(b)
	overflows := (int64(a) >= int64(b)) != (d >= 0)
	switch {
	case t.of == stubs.Float || overflows && t.of != stubs.Duration:
		return t.number(a) - t.number(b)
	case overflows:
		return (t.number(a) - t.number(b)) / float64(time.Second)
	case t.of == stubs.Duration:
		return time.Duration(d).Seconds()
	}
	return float64(d)
}

// course is the mean of values, in which the weight of a value falls by a factor of e in each
// window.
type course struct {
	mean, weight float64
	at           int64
}

func (c *course) add(now int64, x float64, window int64) {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return // the value would stay in the mean
	}
	c.weight = c.weight*math.Exp(-float64(now-c.at)/float64(window)) + 1
	c.mean = c.mean*(1-1/c.weight) + x/c.weight
	c.at = now
}

// AverageType is the type of averages of a state: a float, or the type of its unit.
func AverageType(t stubs.Type) stubs.Type {
	if HasUnit(t) {
		return t
	}
	return stubs.Float
}
