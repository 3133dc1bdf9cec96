package cocoon

import (
	"math"
	"testing"
	"time"
)

func TestPace(t *testing.T) {
	var p pace
	if p.value(0) != 0 {
		t.Error("a rate of nothing")
	}
	second := int64(time.Second)
	now := 100 * second
	for range 60_000 { // a thousand a second
		now += second / 1000
		p.add(now)
	}
	if v := p.value(now); v < 980 || v > 1010 {
		t.Errorf("%v per second, want about 1000", v)
	}
	if v, want := p.value(now+10*second), p.value(now)/math.E; math.Abs(v-want) > 1e-6 {
		t.Errorf("10 s later %v, want %v", v, want)
	}
	before := p.value(now)
	p.add(0)
	p.add(math.MinInt64)
	if v := p.value(now); v < before || v > before+1 {
		t.Errorf("after a leap back %v, before %v", v, before)
	}
	if p.add(math.MaxInt64); p.value(math.MaxInt64) > 1 || p.value(0) > 1 {
		t.Errorf("after a leap forward %v", p.value(math.MaxInt64))
	}
}

func TestMean(t *testing.T) {
	var m mean
	m.add(-5)
	if m.ns != 0 {
		t.Errorf("%d", m.ns)
	}
	m = mean{}
	for _, x := range []int64{100, 100, 100} {
		m.add(x)
	}
	if m.ns != 100 {
		t.Errorf("of equal values: %d", m.ns)
	}
	for range 100 {
		m.add(math.MaxInt64)
	}
	if m.ns > greatest || m.ns < greatest/2 {
		t.Errorf("of the greatest: %d", m.ns)
	}
}
