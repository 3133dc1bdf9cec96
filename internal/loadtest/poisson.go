package loadtest

import (
	"math/rand/v2"
	"time"
)

// Poisson draws the moments before end of requests that come rate times a second independently of
// each other, in order: the same ones for the same seed and stream. add gets each, and the source
// of randomness for what else is drawn.
func Poisson(seed, stream uint64, rate float64, end time.Duration, add func(at time.Duration, random *rand.Rand)) {
	if rate == 0 {
		return
	}
	random := rand.New(rand.NewPCG(seed, stream))
	for at := random.ExpFloat64() / rate; at < end.Seconds(); at += random.ExpFloat64() / rate {
		add(time.Duration(at*float64(time.Second)), random)
	}
}
