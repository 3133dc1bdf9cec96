//go:build race

package cocoon

import "sync/atomic"

// countdown counts safe points down. It is atomic because the race detector would report the other
// version.
type countdown atomic.Int32

func (c *countdown) poll() bool  { return (*atomic.Int32)(c).Add(-1) < 0 }
func (c *countdown) get() int32  { return (*atomic.Int32)(c).Load() }
func (c *countdown) set(n int32) { (*atomic.Int32)(c).Store(n) }

// underRace is whether the program was built with the race detector.
const underRace = true
