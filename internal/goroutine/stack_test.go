package goroutine

import (
	"runtime"
	"testing"
)

//go:noinline
func sumHere() uint64 { sum, _ := StackSum(); return sum }

//go:noinline
func sumAtDepth(n int) uint64 {
	if n > 0 {
		return sumAtDepth(n-1) + 0
	}
	return sumHere()
}

// A sum stands for a stack: it stays when the stack is moved, and differs for other callers.
func TestStackSum(t *testing.T) {
	if _, ok := StackSum(); !ok {
		if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
			t.Fatal("it fails")
		}
		t.Skip("not on this architecture")
	}
	var sums []uint64
	for range 3 {
		sums = append(sums, sumHere())
		deep(2000, func() uintptr { return 0 })
		runtime.GC()
	}
	if sums[0] != sums[1] || sums[1] != sums[2] {
		t.Errorf("one stack has the sums %x", sums)
	}
	seen := map[uint64]int{sumHere(): -1, sums[0]: -2}
	if len(seen) != 2 {
		t.Error("two lines of a function have one sum")
	}
	for n := range 100 {
		sum := sumAtDepth(n)
		if other, twice := seen[sum]; twice || sum == 0 {
			t.Errorf("depths %d and %d have the sum %x", n, other, sum)
		}
		seen[sum] = n
	}
}

func BenchmarkStackSum(b *testing.B) {
	for b.Loop() {
		StackSum()
	}
}
