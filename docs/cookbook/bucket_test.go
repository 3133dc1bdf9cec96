package cookbook

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// meter is the token bucket of RFC 2697, section 3, with one colour, for requests: its tokens are
// counted by whole nanoseconds of its rate, so that nothing is rounded. A token is worth a second
// over the rate.
type meter struct {
	credit, at, most time.Duration
	token            time.Duration
}

func newMeter(perSecond, burst int) *meter {
	token := time.Second / time.Duration(perSecond)
	return &meter{credit: token * time.Duration(burst), most: token * time.Duration(burst), token: token}
}

func (m *meter) conforms(now time.Duration, tokens int) bool {
	m.credit = min(m.most, m.credit+now-m.at)
	m.at = now
	if cost := m.token * time.Duration(tokens); cost <= m.credit {
		m.credit -= cost
		return true
	}
	return false
}

// Requests come at random nanoseconds. At the very moment at which a bucket has enough again, the
// runtime's bucket, a float, may hold a millionth of a billionth of a token less.
func TestTenantBucketReference(t *testing.T) {
	for seed := range uint64(longtest.Count(3, 1)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(seed, 4))
			meters, s, refused := map[string]*meter{}, script{}, 0
			for _, r := range load(rnd, longtest.Count(4000, 2500), 1, 10*time.Millisecond, 0.5, 3, 1) {
				tenant, name, tokens := fmt.Sprint("tenant", rnd.IntN(8)), "GET /items", 1
				if rnd.IntN(4) == 0 {
					tenant = "tenant0"
				}
				if rnd.IntN(10) == 0 {
					name, tokens = "GET /export/{format}", 5
				}
				if meters[tenant] == nil {
					meters[tenant] = newMeter(20, 10)
				}
				now := r.arrived
				ok := meters[tenant].conforms(now, tokens)
				if !ok {
					refused++
				}
				given := fmt.Sprintf("tenant.name: %s, arriving.name: %q", tenant, name)
				s.tell(now, "enqueue", given, verdict(!ok, "too many requests of the tenant"))
			}
			if s.run(t, "tenant-bucket.yaml"); refused < 200 || refused > 3500 {
				t.Errorf("%d of %d requests are refused", refused, len(s.events))
			}
		})
	}
}
