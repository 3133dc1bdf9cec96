package states

import (
	"math"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
)

// Time ends keys and fills buckets, whichever way the clock leaps.
func TestKeysAndClocks(t *testing.T) {
	const second = int64(time.Second)
	declare := func(declared any) *Var {
		s, err := policy.StateOf(declared)
		if err != nil {
			t.Fatal(err)
		}
		return New(s)
	}
	for _, observing := range []bool{false, true} {
		v := declare(policy.Keyed{First: 7, Keys: 3, TTL: time.Minute})
		v.put(1, 42, observing, 0)
		for _, c := range []struct {
			now  int64
			want uint64
		}{{60 * second, 42}, {second - 1, 42}, {-3600 * second, 42}, {-3540 * second, 42}, {-3539*second + 1, 7}, {0, 7}} {
			if got := v.at(1, observing, c.now); got != c.want {
				t.Errorf("observing %v: %d at %v, want %d", observing, got, time.Duration(c.now), c.want)
			}
		}
		b := declare(policy.Bucket{Rate: 10, Burst: 5})
		b.put(0, math.Float64bits(0), observing, 0)
		for _, c := range []struct {
			now  int64
			want float64
		}{{0, 0}, {second / 10, 1}, {math.MaxInt64, 5}, {-second, 0}, {-3600 * second, 0}, {-3600*second + second/5, 2}} {
			if got := math.Float64frombits(b.at(0, observing, c.now)); got != c.want {
				t.Errorf("observing %v: %v tokens at %v, want %v", observing, got, time.Duration(c.now), c.want)
			}
		}
	}
}
