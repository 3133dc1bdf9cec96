package policy

import (
	"math"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/internal/ir"
	"github.com/cocoon-go/cocoon/stubs"
)

// TestStateOf reads what Go code declares.
func TestStateOf(t *testing.T) {
	five := math.Float64bits(5)
	for want, declared := range map[State]any{
		{Type: stubs.Int, First: 3}:                3,
		{Type: stubs.Int, Keys: 4, By: ir.OneName}: Keyed{Keys: 4},
		{Type: stubs.Duration, First: 7, Keys: 4, TTL: time.Second, By: ir.KeyTypes{stubs.Name, stubs.Int}}:                       Keyed{time.Duration(7), 4, time.Second, []string{"name", "int"}},
		{Type: stubs.Float, First: five, Bucket: Bucket{1, 5}}:                                                                    Bucket{1, 5},
		{Type: stubs.Float, First: five, Bucket: Bucket{1, 5}, Keys: 4, By: ir.OneName, PerLoop: true}:                            PerLoop{Keyed{First: Bucket{1, 5}, Keys: 4}},
		{Type: stubs.Float, First: five, Bucket: Bucket{1, 5}, PerLoop: true}:                                                     PerLoop{Bucket{1, 5}},
		{Type: stubs.Bool, First: 1, PerLoop: true}:                                                                               PerLoop{true},
		{Type: stubs.Float, First: math.Float64bits(MaxBurst), Bucket: Bucket{MaxBurst, MaxBurst}, Keys: MaxKeys, By: ir.OneName}: Keyed{First: Bucket{MaxBurst, MaxBurst}, Keys: MaxKeys},
	} {
		if got, err := StateOf(declared); err != nil || got != want {
			t.Errorf("%v is %+v, %v", declared, got, err)
		}
	}
}
