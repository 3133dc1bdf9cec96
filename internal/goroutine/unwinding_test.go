package goroutine

import (
	"fmt"
	"runtime"
	"testing"
)

// recovered runs f and swallows its panic.
func recovered(f func()) {
	defer func() { _ = recover() }()
	f()
}

// onGoroutine runs f on a new goroutine, which f may end.
func onGoroutine(f func()) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		f()
	}()
	<-ended
}

//go:noinline
func below(depth int, f func()) {
	if depth == 0 {
		f()
		return
	}
	below(depth-1, f)
	runtime.KeepAlive(depth) // prevents a tail call
}

func TestUnwinding(t *testing.T) {
	var nilPointer *int
	for _, c := range []struct {
		name string
		want bool
		run  func(probe func())
	}{
		{"plain code", false, func(probe func()) { probe() }},
		{"deferred, normal return", false, func(probe func()) { defer probe() }},
		{"deferred in a loop, normal return", false, func(probe func()) {
			for range 3 {
				defer probe()
			}
		}},
		{"deferred, panic", true, func(probe func()) {
			recovered(func() { defer probe(); panic("probe") })
		}},
		{"deferred in a loop, panic", true, func(probe func()) {
			recovered(func() {
				for range 3 {
					defer probe()
				}
				panic("probe")
			})
		}},
		{"deferred, the runtime's own panic", true, func(probe func()) {
			recovered(func() { defer probe(); *nilPointer = 1 })
		}},
		{"deferred some frames above the panic", true, func(probe func()) {
			recovered(func() { defer probe(); below(5, func() { panic("probe") }) })
		}},
		{"called below the deferred function", true, func(probe func()) {
			recovered(func() { defer below(5, probe); panic("probe") })
		}},
		{"recovered, deferred function not yet returned", true, func(probe func()) {
			defer func() { _ = recover(); probe() }()
			panic("probe")
		}},
		{"after a recovered panic", false, func(probe func()) {
			recovered(func() { panic("probe") })
			probe()
		}},
		{"deferred in the frame that recovered", false, func(probe func()) {
			defer probe()
			defer func() { _ = recover() }()
			panic("probe")
		}},
		{"deferred, normal return, inside a deferred call of a panic", true, func(probe func()) {
			recovered(func() {
				defer func() { func() { defer probe() }() }()
				panic("probe")
			})
		}},
		{"after a panic recovered inside a deferred call of another", true, func(probe func()) {
			recovered(func() {
				defer func() { recovered(func() { panic("inner") }); probe() }()
				panic("outer")
			})
		}},
		{"deferred, panic replaced by another", true, func(probe func()) {
			recovered(func() {
				defer probe()
				defer func() { panic("second") }()
				panic("first")
			})
		}},
		{"deferred, Goexit", true, func(probe func()) {
			onGoroutine(func() { defer probe(); runtime.Goexit() })
		}},
		{"deferred, Goexit inside a deferred call of a panic", true, func(probe func()) {
			onGoroutine(func() {
				defer probe()
				defer runtime.Goexit()
				panic("probe")
			})
		}},
		{"after a panic recovered during Goexit", true, func(probe func()) {
			onGoroutine(func() {
				defer probe()
				defer func() { _ = recover() }()
				defer panic("probe")
				runtime.Goexit()
			})
		}},
		{"another goroutine, started while unwinding", false, func(probe func()) {
			recovered(func() {
				defer onGoroutine(probe)
				panic("probe")
			})
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			probes := 0
			c.run(func() {
				probes++
				if got := Unwinding(); got != c.want {
					t.Errorf("Unwinding() = %v, want %v", got, c.want)
				}
			})
			if probes == 0 {
				t.Fatal("the probe did not run")
			}
		})
	}
}

// TestUnwindingOnDeepStacks checks the walk at chunk boundaries: the frame may be on either side of
// a boundary, or missing.
func TestUnwindingOnDeepStacks(t *testing.T) {
	for depth := range 300 {
		below(depth, func() {
			if Unwinding() {
				t.Errorf("plain code, %d frames: unwinding", depth)
			}
		})
		recovered(func() {
			defer below(depth, func() {
				if !Unwinding() {
					t.Errorf("panic %d frames below: not unwinding", depth)
				}
			})
			panic("probe")
		})
	}
	below(100_000, func() {
		if Unwinding() {
			t.Error("plain code, 100,000 frames: unwinding")
		}
	})
}

func BenchmarkUnwinding(b *testing.B) {
	for _, depth := range []int{0, 20, 200, 2000} {
		b.Run(fmt.Sprintf("depth=%d", depth), func(b *testing.B) {
			below(depth, func() {
				b.ReportAllocs()
				for range b.N {
					if Unwinding() {
						b.Fatal("unwinding")
					}
				}
			})
		})
	}
}
