package notify

import (
	"testing"
	"time"
)

func TestNowIsPositiveAndMonotonic(t *testing.T) {
	last := int64(0)
	for range 100_000 {
		now := Now()
		if now < last || now <= 0 {
			t.Fatalf("Now() = %d after %d", now, last)
		}
		last = now
	}
	outer := time.Now()
	start := Now()
	time.Sleep(10 * time.Millisecond)
	d := Now() - start
	if w := int64(time.Since(outer)); d < 10e6 || d > w {
		t.Fatalf("Now advanced %d ns while at least 10 ms and at most %d ns passed", d, w)
	}
}
