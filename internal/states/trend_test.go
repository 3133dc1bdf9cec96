package states

import (
	"math"
	"testing"
	"time"

	"github.com/cocoon-go/cocoon/policy"
	"github.com/cocoon-go/cocoon/stubs"
)

// The window of a rate begins when a policy that reads the rate comes into force, or when the state
// gets another first value: one change after an hour is one in the window.
func TestTrendsBeginInForce(t *testing.T) {
	one, _ := policy.StateOf(1)
	v := New(one)
	s := policy.Spec{Name: "p", On: policy.On(stubs.Enqueue), Expr: `rate("n", duration("1m")) > 1 ? throw("x") : continue()`}
	p, err := s.Parse(map[string]policy.State{"n": one}, nil)
	if err != nil {
		t.Fatal(err)
	}
	u := NewUse(p, map[string]*Var{"n": v}, 0)
	words := make([]uint64, p.Words)
	inWindow := func(now time.Duration) float64 {
		t.Helper()
		i := p.Reads[0].Offset
		u.Begin(&Steps{}, words, false, int64(now))
		return math.Float64frombits(words[i]) * 60
	}
	write := func(word uint64, now time.Duration) {
		v.follow(word, false, int64(now))
		v.write(word, false)
	}
	if write(2, time.Hour); math.Abs(inWindow(time.Hour)-1) > 1.0/64 {
		t.Errorf("%v in the window after one change", inWindow(time.Hour))
	}
	zero, _ := policy.StateOf(0)
	v.Redeclare(zero, one, int64(2*time.Hour))
	if write(1, 2*time.Hour+30*time.Second); inWindow(2*time.Hour+30*time.Second) != 2 {
		t.Errorf("%v in the window, of which half has passed", inWindow(2*time.Hour+30*time.Second))
	}
}
