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
	return s.TTL > 0 && slices.ContainsFunc(c.m.Verified.program.Reads, func(r ir.Read) bool {
		length, again := window(r.Stub)
		return s.TTL <= again-length && c.keyed(r)
	})
}

// shorter warns of a count for each minute, hour or day whose keys expire before that is over: a
// client that pauses for the time to live begins anew.
func (c *tally) shorter(members []Member, d Declared) []Remark {
	for _, by := range c.by {
		s, ok := by.declaration(d)
		p := by.m.Verified.program
		if !ok || s.TTL == 0 || by.sign < 0 || !slices.ContainsFunc(members, func(m Member) bool {
			return m.own(by.state()) == by.m.own(by.state()) && m.Verified.program.Root.Any(throws)
		}) {
			continue
		}
		for _, r := range p.Reads {
			if length, _ := window(r.Stub); s.TTL < length && by.keyed(r) {
				return []Remark{by.m.remark(by.effect, fmt.Sprintf("write ttl: %v", 2*length),
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

// windowHint returns how the keys of the counted state get a window, in place of their time to live.
func (c *tally) windowHint(m Member, ttl time.Duration) string {
	by := c.by[0]
	for _, r := range by.m.Verified.program.Reads {
		if length, again := window(r.Stub); length > 0 && by.keyed(r) {
			return fmt.Sprintf("write ttl: %v: %v has the same value again after %v, and the key is still there", 2*length, r, again)
		}
	}
	switch {
	case !c.spending(m):
		return "declare a token bucket, as in {rate: 1.5, burst: 90, keys: 1000}, which time fills"
	case !c.freePart():
		return "keep the number of the window in a second state, and set the sum when another window begins"
	}
	part, unit := "clock.minute", time.Minute
	if ttl >= 24*time.Hour {
		part, unit = "clock.weekday", 24*time.Hour
	} else if ttl >= time.Hour {
		part, unit = "clock.hour", time.Hour
	}
	return fmt.Sprintf("make %s the second part of the key, with by: [name, int] and ttl: %v: each %s then has a sum of its own",
		part, 2*unit, map[time.Duration]string{time.Minute: "minute", time.Hour: "hour", 24 * time.Hour: "day"}[unit])
}

// keyed reports whether the read is a part of the key under which the effect counts.
func (c counting) keyed(r ir.Read) bool {
	by := c.m.Verified.program.Sites[c.effect.Index].By
	return by != nil && slices.ContainsFunc(by[:], func(part ir.KeyPart) bool {
		return part.Type != stubs.Invalid && !part.Constant && part.Offset == r.Offset
	})
}

// freePart reports whether the keys of the counted state have one part, a name.
func (c *tally) freePart() bool {
	return !slices.ContainsFunc(c.by, func(by counting) bool {
		of := by.m.Verified.program.Sites[by.effect.Index].By
		return of == nil || of.Types() != oneName
	})
}
