package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"
)

// class is a class of requests.
type class struct {
	name     string
	share    float64 // of all requests
	priority int32   // greater is more urgent
	paid     float64 // the paying tenant's share of its requests; the rest are the free tenant's
	cost     func(*rand.Rand) time.Duration
	mean     time.Duration // mean of the costs
}

const (
	good       = 100 * time.Millisecond // responses within this time count
	reportCost = 200 * time.Millisecond // of the longest batch requests
	reportTime = time.Second            // their deadline, because they cannot meet good
	maxNormal  = 20 * time.Millisecond
)

// classes are the classes of requests. Of the work, 7 % is critical, 38 % normal and 55 % batch; so
// at twice the capacity the first two alone take nine tenths of the capacity.
var classes = []class{
	{"critical", 0.40, 2, 0.8, func(*rand.Rand) time.Duration { return time.Millisecond }, time.Millisecond},
	{"normal", 0.45, 1, 0.5, func(r *rand.Rand) time.Duration {
		return min(time.Duration((0.1+r.ExpFloat64())*float64(4*time.Millisecond)), maxNormal)
	}, 4372 * time.Microsecond},
	{"batch", 0.15, 0, 0.2, func(r *rand.Rand) time.Duration {
		if r.IntN(15) == 0 {
			return reportCost
		}
		return 10 * time.Millisecond
	}, 22667 * time.Microsecond},
}

// The indices of two classes: the class that must get responses, and the class in which the tenants
// differ.
const (
	critical = 0
	normal   = 1
)

// The tenants, by their labels.
const (
	paying = "paying"
	free   = "free"
)

// meanCost returns the mean cost of a request.
func meanCost() (mean time.Duration) {
	for _, c := range classes {
		mean += time.Duration(c.share * float64(c.mean))
	}
	return mean
}

// drawClass draws a class with the classes' shares.
func drawClass(r *rand.Rand) int {
	x := r.Float64()
	for i, c := range classes {
		if x -= c.share; x < 0 {
			return i
		}
	}
	return len(classes) - 1
}

// classOf returns the class of a path.
func classOf(path string) (class, error) {
	name := strings.TrimPrefix(path, "/")
	i := slices.IndexFunc(classes, func(c class) bool { return c.name == name })
	if i < 0 {
		return class{}, fmt.Errorf("no class is named %q", name)
	}
	return classes[i], nil
}

// timeFor returns the deadline of a request with the given cost.
func timeFor(cost time.Duration) time.Duration {
	if cost >= reportCost {
		return reportTime
	}
	return good
}
