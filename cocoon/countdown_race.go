//go:build race

package cocoon

// countdown counts safe points down, as without the race detector. The detector must not see it: it
// would report the counts that may be lost, and an atomic counter takes it a tenth of a microsecond,
// at each safe point.
type countdown int32

//go:norace
func (c *countdown) poll() bool {
	*c--
	return *c < 0
}

//go:norace
func (c *countdown) get() int32 { return int32(*c) }

//go:norace
func (c *countdown) set(n int32) { *c = countdown(n) }

// tally counts what one goroutine does, for others that only ask whether it has done it since. It
// counts like countdown.
type tally uint16

//go:norace
func (t *tally) add() { *t++ }

//go:norace
func (t *tally) get() tally { return *t }

// underRace is whether the program was built with the race detector.
const underRace = true
