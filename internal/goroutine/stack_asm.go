//go:build amd64 || arm64

package goroutine

// StackSum returns a number that is the same for the same stack of the caller's callers: the same
// functions, called at the same places. Other stacks have other numbers, but for one case in 2^64.
// It takes a nanosecond or two a function. It fails where the stack cannot be followed to its
// beginning: in a callback from C, and on some architectures.
func StackSum() (sum uint64, ok bool) {
	sum = stackSum()
	return sum, sum != 0
}

// stackSum returns 0 where it fails. The runtime does not interrupt assembly, so the stack stays
// where it is meanwhile.
func stackSum() (sum uint64)

// stackFrames stores the frames without their callers, as many as fit, and returns how many there
// are, or 0 where it fails.
func stackFrames(into []Frame) (n int)

// stackHas looks for a frame.
func stackHas(depth, place, caller uintptr) bool
