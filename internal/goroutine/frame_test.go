package goroutine

import (
	"runtime"
	"slices"
	"testing"
)

// frameOf returns the frame of the function that is skip calls above.
//
//go:noinline
func frameOf(t *testing.T, skip int) Frame {
	pc, _, _, _ := runtime.Caller(skip)
	all := Frames()
	i := slices.IndexFunc(all, func(f Frame) bool { return f.PC() == pc })
	if i < 0 {
		t.Fatalf("%x is missing among %x", pc, all)
	}
	return all[i]
}

//go:noinline
func called(f Frame) bool { here := f.IsHere(); return here }

//go:noinline
func deeper(n int, f Frame) bool {
	if n > 0 {
		return deeper(n-1, f) && true
	}
	return called(f)
}

// A frame is on the stack while its function is at the place, in each call that it makes there.
func TestFrameIsHere(t *testing.T) {
	if len(Frames()) == 0 {
		if runtime.GOARCH == "amd64" || runtime.GOARCH == "arm64" {
			t.Fatal("there are no frames")
		}
		t.Skip("not on this architecture")
	}
	var f Frame
	atPlace := func() { // it makes all calls at one place
		for i := range 3 {
			call := []func(){
				func() { f = frameOf(t, 2) },
				func() {
					if !deeper(3, f) {
						t.Error("the frame is lost in a deeper call")
					}
					deep(2000, func() uintptr { return 0 })
					runtime.GC()
				},
				func() {
					if !deeper(50, f) {
						t.Error("the frame is lost when the stack is moved")
					}
				},
			}[i]
			call()
		}
	}
	atPlace()
	if called(f) || (Frame{}).IsHere() {
		t.Error("the frame remains after its function has returned")
	}
	if f = frameOf(t, 1); called(f) {
		t.Error("the frame remains at another place of its function")
	}
}
