package cookbook

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// codel is the dequeue side of CoDel (Nichols, Jacobson 2012; RFC 8289, section 5), for requests: a
// full packet is one request. A dequeue drops as many requests as it has to.
type codel struct {
	firstAbove, dropNext time.Duration
	count, lastCount     int
	dropping             bool
}

const (
	codelTarget   = 5 * time.Millisecond
	codelInterval = 100 * time.Millisecond
)

func (c *codel) controlLaw(from time.Duration) time.Duration {
	return from + time.Duration(float64(codelInterval)/math.Sqrt(float64(c.count)))
}

// okToDrop reports whether a request may be dropped that has waited so long, while others wait.
func (c *codel) okToDrop(now, waited time.Duration, waiting int) bool {
	switch {
	case waited < codelTarget || waiting <= 1:
		c.firstAbove = 0
	case c.firstAbove == 0:
		c.firstAbove = now + codelInterval
	default:
		return now >= c.firstAbove
	}
	return false
}

// dequeue takes requests by pop, which returns nil when none is left; it drops them or returns one.
func (c *codel) dequeue(now time.Duration, pop func() (r *request, waiting int), drop func()) *request {
	take := func() (*request, bool) {
		r, waiting := pop()
		if r == nil {
			c.firstAbove = 0
			return nil, false
		}
		return r, c.okToDrop(now, now-r.arrived, waiting)
	}
	r, ok := take()
	if c.dropping {
		if !ok {
			c.dropping = false
		}
		for c.dropping && now >= c.dropNext {
			drop()
			c.count++
			if r, ok = take(); ok {
				c.dropNext = c.controlLaw(c.dropNext)
			} else {
				c.dropping = false
			}
		}
	} else if ok {
		drop()
		r, _ = take()
		c.dropping = true
		delta := c.count - c.lastCount
		if c.count = 1; delta > 1 && now-c.dropNext < 16*codelInterval {
			c.count = delta
		}
		c.dropNext = c.controlLaw(now)
		c.lastCount = c.count
	}
	return r
}

func TestCoDelReference(t *testing.T) {
	for seed := range uint64(longtest.Count(4, 1)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 2))
			c, s, dropped := &codel{}, script{}, 0
			server := &station{slots: 4}
			server.next = func() *request {
				given := ""
				tell := func(drop bool) {
					if given != "" {
						s.tell(server.now, "start", given, verdict(drop, "the queue is slow"))
					}
					given = ""
				}
				r := c.dequeue(server.now, func() (*request, int) {
					r := server.pop()
					if r != nil {
						given = fmt.Sprintf("task.waited: %v, queue.length: %d", server.now-r.arrived, len(server.wait))
					}
					return r, len(server.wait)
				}, func() { dropped++; tell(true) })
				tell(false)
				return r
			}
			requests := longtest.Count(5000, 2500)
			server.work(load(rnd, requests, 4, 10*time.Millisecond, 0.7, 1.1, 1.3, 0.9, 2))
			if s.run(t, "codel.yaml"); dropped < requests/50 || dropped > requests*4/5 {
				t.Errorf("%d of %d requests are dropped", dropped, len(s.events))
			}
		})
	}
}
