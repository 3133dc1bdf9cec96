package loadtest

import (
	"math"
	"slices"
	"time"
)

// CurvePoints is the number of points of a Curve: eight for each nine of its shares, up to 99.9 %.
const CurvePoints = 3*8 + 1

// A Curve is a distribution: point i is the duration that the share CurveShare(i) of the values
// does not exceed. It is an array so that the outcomes that contain it can be compared.
type Curve [CurvePoints]time.Duration

// CurveShare returns the share of point i: 0, 0.25, 0.44 and so on to 0.9 at point 8, 0.99 at point
// 16 and 0.999 at point 24. Evenly spaced points show the slow end of a distribution.
func CurveShare(i int) float64 { return 1 - math.Pow(10, -float64(i)/8) }

// CurveOf sorts durations and returns their curve. Without durations, all points are 0.
func CurveOf(took []time.Duration) (c Curve) {
	slices.Sort(took)
	for i := range c {
		c[i] = percentile(took, CurveShare(i))
	}
	return c
}

// Microseconds returns the points of the curve in microseconds.
func (c Curve) Microseconds() []float64 {
	points := make([]float64, 0, CurvePoints)
	for _, d := range c {
		points = append(points, float64(d)/float64(time.Microsecond))
	}
	return points
}
