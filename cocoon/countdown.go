//go:build !race

package cocoon

// countdown counts safe points down, at a nanosecond each. Another goroutine may have been passed
// the context, and its safe points count like the task's own. A count may then be lost, and the
// clock is read a little later. An atomic counter would take three times as long.
type countdown int32

// poll counts one safe point, and reports whether the count is over.
func (c *countdown) poll() bool {
	*c--
	return *c < 0
}

func (c *countdown) get() int32  { return int32(*c) }
func (c *countdown) set(n int32) { *c = countdown(n) }

// tally counts what one goroutine does, for others that only ask whether it has done it since. It
// counts like countdown.
type tally uint16

func (t *tally) add() { *t++ }

func (t *tally) get() tally { return *t }

// underRace is whether the program was built with the race detector.
const underRace = false
