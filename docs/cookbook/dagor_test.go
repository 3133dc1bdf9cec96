package cookbook

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// dagor is the admission control of a DAGOR server (Zhou et al. 2018, section 4.2): a histogram of
// the requests of a window by their level, and a cursor that moves along it. Lower levels are more
// important. A window ends after a second or 2000 requests.
type dagor struct {
	cursor          int
	histogram       [9]int // by level, from 1
	seen, admitted  int
	began           time.Duration
	queuing         time.Duration
	started         int
	lowered, raised int
}

const (
	dagorAlpha    = 5 // percent of the admitted less, when overloaded
	dagorBeta     = 1 // percent of all more, when not
	dagorQueuing  = 20 * time.Millisecond
	dagorWindow   = time.Second
	dagorRequests = 2000
)

// admits decides about a request; a new window begins before.
func (d *dagor) admits(now time.Duration, level int) bool {
	if now-d.began >= dagorWindow || d.seen >= dagorRequests {
		d.move()
		d.histogram, d.seen, d.admitted, d.queuing, d.started, d.began = [9]int{}, 0, 0, 0, 0, now
	}
	d.histogram[level]++
	d.seen++
	if level > d.cursor {
		return false
	}
	d.admitted++
	return true
}

// move moves the cursor along the histogram until as many would have been admitted as shall be.
func (d *dagor) move() {
	from, prefix := d.cursor, d.admitted
	if d.queuing > time.Duration(d.started)*dagorQueuing {
		for ; d.cursor > 1 && 100*prefix > (100-dagorAlpha)*d.admitted; d.cursor-- {
			prefix -= d.histogram[d.cursor]
		}
	} else {
		for d.cursor < 8 && 100*prefix < 100*d.admitted+dagorBeta*d.seen {
			d.cursor++
			prefix += d.histogram[d.cursor]
		}
	}
	d.lowered += max(0, from-d.cursor)
	d.raised += max(0, d.cursor-from)
}

func TestDAGORReference(t *testing.T) {
	for seed := range uint64(longtest.Count(3, 1)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 3))
			d, s := &dagor{cursor: 8}, script{}
			server := &station{slots: 8}
			server.admit = func(r *request) bool {
				ok := d.admits(server.now, r.level)
				want := fmt.Sprintf("{verdict: %s, states: {level: %d}}", verdict(!ok, "overloaded"), d.cursor)
				s.tell(server.now, "enqueue", fmt.Sprintf("arriving.labels: {level: %q}", fmt.Sprint(r.level)), want)
				return ok
			}
			server.next = func() *request {
				r := server.pop()
				d.queuing += server.now - r.arrived
				d.started++
				s.tell(server.now, "start", fmt.Sprintf("task.waited: %v", server.now-r.arrived), "continue()")
				return r
			}
			requests := load(rnd, longtest.Count(5000, 3500), 8, 40*time.Millisecond, 0.6, 2, 1.1, 0.8, 12)
			for _, r := range requests {
				r.level = 1 + rnd.IntN(8)
				if rnd.IntN(3) == 0 {
					r.level = 3
				}
			}
			server.work(requests)
			if s.run(t, "dagor.yaml"); d.lowered < 5 || d.raised < 5 {
				t.Errorf("the cursor went %d down and %d up", d.lowered, d.raised)
			}
		})
	}
}
