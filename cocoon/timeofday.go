package cocoon

import "github.com/cocoon-go/cocoon/stubs"

// ofClock returns a value of the time of day, which is read once an evaluation. It goes by the
// clock of the system as it stands: where that is set, so is what policies see.
func (v *view) ofClock(l *Loop, r *read, now int64) uint64 {
	if v.wallOf != now {
		v.wall, v.wallOf = l.rt.cfg.wall(), now
	}
	switch at := v.wall.In(r.zone); r.stub {
	case stubs.ClockMinute:
		return uint64(at.Minute())
	case stubs.ClockHour:
		return uint64(at.Hour())
	default: // stubs.ClockWeekday
		return uint64(at.Weekday())
	}
}

// turned reports whether a policy about the loop that reads the time of day may see another one
// than when it was looked at last: no zone changes within a minute.
func (b *bound) turned() bool {
	minute := b.loop.rt.cfg.wall().Unix() / 60
	was := b.minute
	b.minute = minute
	return was != minute
}
