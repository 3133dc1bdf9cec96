package cocoon

import (
	"math"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

// mean is an average of durations that follows the last ten or so.
type mean struct {
	ns   int64
	some bool
}

func (m *mean) add(ns int64) {
	ns = min(max(ns, 0), greatest)
	if m.some {
		ns = m.ns + (ns-m.ns)/8
	}
	m.ns, m.some = ns, true
}

// pace is how many events there are per second: each counts e times less after paceWindow.
type pace struct {
	perSecond float64
	n         int64 // events since at, not yet in perSecond
	at        int64
}

const (
	paceWindow = int64(10 * time.Second)
	paceStep   = int64(50 * time.Millisecond) // events so close together count as of one time
)

// add counts an event. A time before the last counts as the last.
func (p *pace) add(now int64) {
	if now > p.at && now-p.at >= paceStep {
		p.perSecond, p.n, p.at = p.value(now), 0, now
	}
	p.n++
}

// value returns the rate.
func (p *pace) value(now int64) float64 {
	sum := p.perSecond + float64(p.n)/time.Duration(paceWindow).Seconds()
	return min(sum*math.Exp(-float64(max(now, p.at)-p.at)/float64(paceWindow)), stubs.MaxRate)
}
