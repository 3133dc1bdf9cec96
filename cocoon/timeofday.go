package cocoon

import "github.com/cocoon-go/cocoon/stubs"

// ofClock returns a value of the time of day, which is read once an evaluation from the system
// clock: if the clock is set, policies see the new time.
func (v *view) ofClock(l *Loop, r *read, now int64) uint64 {
	if v.wallOf != now {
		v.wall, v.wallOf = l.rt.cfg.wall(), now
	}
	switch at := v.wall.In(r.zone); r.stub {
	case stubs.ClockMinute:
		return uint64(at.Minute())
	case stubs.ClockHour:
		return uint64(at.Hour())
	case stubs.ClockWeekday:
		return uint64(at.Weekday())
	}
	panic(valueless)
}

// turned reports whether the time of day may have changed since the last check, for a policy about
// the loop that reads it. No zone changes within a minute.
func (b *bound) turned() bool {
	minute := b.loop.rt.cfg.wall().Unix() / 60
	was := b.minute
	b.minute = minute
	return was != minute
}
