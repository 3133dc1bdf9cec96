package loadtest

import (
	"testing"
	"time"
)

func TestCurve(t *testing.T) {
	var took []time.Duration
	for i := range 10_000 {
		took = append(took, time.Duration(10_000-i)*time.Microsecond)
	}
	c := CurveOf(took)
	for point, want := range map[int]float64{0: 1, 8: 9000, 16: 9900, 24: 9990} {
		if got := c.Microseconds()[point]; got != want {
			t.Errorf("point %d, the share %g, is %g µs; want %g", point, CurveShare(point), got, want)
		}
	}
	if CurveOf(nil) != (Curve{}) {
		t.Error("without durations the curve has points")
	}
}
