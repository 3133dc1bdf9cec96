package cookbook

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// window is a congestion window for requests instead of segments: additive increase by one a round,
// multiplicative decrease once a round, and no increase while the window is not used (Chiu, Jain
// 1989; RFC 5681; RFC 7661).
type window struct {
	size    float64
	reduced time.Duration // earlier requests say nothing about the window since
}

const slow = 100 * time.Millisecond

func (w *window) allows(inFlight int) bool { return float64(inFlight) <= w.size }

func (w *window) ended(now, arrived time.Duration, inFlight int) {
	congested := now-arrived > slow
	if congested && arrived < w.reduced {
		return
	}
	if congested {
		w.size /= 2
		w.reduced = now
	} else if float64(inFlight) >= w.size/2 {
		w.size += 1 / w.size
	}
	w.size = min(max(w.size, 1), 1000)
}

func TestAIMDReference(t *testing.T) {
	for seed := range uint64(longtest.Count(3, 1)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			w, s := &window{size: 20}, script{}
			refused := 0
			server := &station{slots: 8}
			server.admit = func(r *request) bool {
				ok := w.allows(len(server.busy) + len(server.wait))
				given := fmt.Sprintf("loop.busy: %d, queue.length: %d", len(server.busy), len(server.wait))
				s.tell(server.now, "enqueue", given, verdict(!ok, "over the limit"))
				if !ok {
					refused++
				}
				return ok
			}
			server.end = func(r *request) {
				w.ended(server.now, r.arrived, len(server.busy)+len(server.wait))
				given := fmt.Sprintf("loop.busy: %d, queue.length: %d, task.elapsed: %v", len(server.busy), len(server.wait), server.now-r.arrived)
				s.tell(server.now, "exit", given, fmt.Sprintf("{states: {limit: %s}}", strconv.FormatFloat(w.size, 'g', -1, 64)))
			}
			server.work(load(rnd, 2000, 8, 20*time.Millisecond, 0.5, 1.5, 3))
			if s.run(t, "aimd.yaml"); refused < 100 || refused > 1500 {
				t.Errorf("%d of 2000 requests are refused", refused)
			}
		})
	}
}
