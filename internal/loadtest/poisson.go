package loadtest

import (
	"math/rand/v2"
	"time"
)

// Poisson draws the arrival times before end of requests that arrive independently at the given
// rate a second, in order; the same times for the same seed and stream. It calls add with each
// time, and with the source of randomness for further draws.
func Poisson(seed, stream uint64, rate float64, end time.Duration, add func(at time.Duration, random *rand.Rand)) {
	if rate == 0 {
		return
	}
	random := rand.New(rand.NewPCG(seed, stream))
	for at := random.ExpFloat64() / rate; at < end.Seconds(); at += random.ExpFloat64() / rate {
		add(time.Duration(at*float64(time.Second)), random)
	}
}
