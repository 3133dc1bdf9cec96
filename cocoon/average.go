package cocoon

import (
	"math"
	"time"

	"github.com/cocoon-go/cocoon/stubs"
)

// mean is a moving average over about the last ten durations.
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

// pace is the number of events per second; the weight of an event falls by a factor of e in each
// paceWindow.
type pace struct {
	perSecond float64
	n         int64 // events since at, not yet in perSecond
	at        int64
}

const (
	paceWindow = int64(10 * time.Second)
	paceStep   = int64(50 * time.Millisecond) // events this close together count as simultaneous
)

// add counts an event. A time before the last one counts as the last one.
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

// greatest is the greatest duration that the catalogue allows; the analyzer's proofs depend on it.
// Policies see it for a task without a deadline.
const greatest = 1 << 62
