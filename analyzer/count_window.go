package analyzer

import (
	"fmt"
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

// shorter warns of a count for each minute, hour or day whose keys expire before that is over: a
// client that pauses for the time to live begins anew.
func (c *tally) shorter(members []Member, d Declared) []Remark {
	for _, by := range c.by {
		s, ok := by.declaration(d)
		p := by.Verified.program
		of := p.Sites[by.effect.Index].By
		if !ok || s.TTL == 0 || of == nil || by.sign < 0 || !slices.ContainsFunc(members, func(m Member) bool {
			return m.own(by.state()) == by.own(by.state()) && m.Verified.program.Root.Any(throws)
		}) {
			continue
		}
		for _, r := range p.Reads {
			if length, _ := window(r.Stub); s.TTL < length && slices.ContainsFunc(of[:], func(part ir.KeyPart) bool {
				return part.Type != stubs.Invalid && !part.Constant && part.Offset == r.Offset
			}) {
				return []Remark{by.remark(by.effect, fmt.Sprintf("write ttl: %v", 2*length),
					"the state %s forgets a key %v after its last write, and %v stays the same for %v: a client that pauses begins anew", by.state(), s.TTL, r, length)}
			}
		}
	}
	return nil
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
