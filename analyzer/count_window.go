package analyzer

import (
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// windowed reports whether each key of the counted state has a minute, an hour or a day in it, and
// expires before that comes again. Such a state begins anew in each of them.
func (c *tally) windowed(d Declared) bool {
	return !slices.ContainsFunc(c.by, func(by counting) bool { return !by.windowed(d) })
}

func (c counting) windowed(d Declared) bool {
	s, _ := c.declaration(d)
	p := c.Verified.program
	by := p.Sites[c.effect.Index].By
	return by != nil && s.TTL > 0 && slices.ContainsFunc(p.Reads, func(r ir.Read) bool {
		length, again := window(r.Stub)
		return s.TTL <= again-length && slices.ContainsFunc(by[:], func(part ir.KeyPart) bool {
			return part.Type != stubs.Invalid && !part.Constant && part.Offset == r.Offset
		})
	})
}

// window returns how long a stub of the time of day stays the same, and after what time its values
// come again.
func window(stub stubs.ID) (length, again time.Duration) {
	switch stub {
	case stubs.ClockMinute:
		return time.Minute, time.Hour
	case stubs.ClockHour:
		return time.Hour, 24 * time.Hour
	case stubs.ClockWeekday:
		return 24 * time.Hour, 7 * 24 * time.Hour
	}
	return 0, 0
}

// freePart reports whether the keys of the counted state have one part, a name.
func (c *tally) freePart() bool {
	return !slices.ContainsFunc(c.by, func(by counting) bool {
		of := by.Verified.program.Sites[by.effect.Index].By
		return of == nil || of.Types() != oneName
	})
}
