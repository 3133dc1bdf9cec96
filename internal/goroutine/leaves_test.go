package goroutine

import (
	"runtime"
	"testing"
	"time"
)

// Leaves changes when the goroutine waits or yields, and not while it runs.
func TestLeaves(t *testing.T) {
	Learn()
	if _, ok := Leaves(); !ok {
		if canLoad && runtime.Compiler == "gc" {
			t.Fatal("Learn has not found the number")
		}
		t.Skip("this platform has no such number")
	}
	ready, gate := make(chan struct{}, 1), make(chan uintptr)
	go func() {
		for id := range gate {
			sees(id, Waiting)
			ready <- struct{}{}
		}
	}()
	defer close(gate)
	for name, c := range map[string]struct {
		leave func()
		want  bool
	}{
		"it runs":            {func() {}, false},
		"a channel has room": {func() { ready <- struct{}{}; <-ready }, false},
		"it yields":          {runtime.Gosched, true},
		"it sleeps":          {func() { time.Sleep(time.Microsecond) }, true},
		"it waits":           {func() { gate <- ID(); <-ready }, true},
	} {
		changed := 0
		for range 100 {
			before, _ := Leaves()
			c.leave()
			if after, _ := Leaves(); after != before {
				changed++
			}
		}
		// A goroutine that runs may lose its P.
		if c.want && changed < 100 || !c.want && changed > 50 {
			t.Errorf("%s: it has left %d of 100 times", name, changed)
		}
	}
}

func BenchmarkLeaves(b *testing.B) {
	Learn()
	for b.Loop() {
		Leaves()
	}
}
