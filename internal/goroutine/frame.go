package goroutine

// Frame is a function's call on the stack of a goroutine, and the place that it has reached. While
// the function is at that place, the frame stays the same, even if the stack is moved. A later call
// has the same frame only if its caller made it at the same place, and it uses the same part of the
// stack.
type Frame struct {
	depth  uintptr // from the stack's beginning, in bytes
	place  uintptr // where its own call will return to
	caller uintptr // where the function will return to
}

// PC returns the place of the call that the function makes, as runtime.Frame.PC does.
func (f Frame) PC() uintptr { return f.place - 1 }

// Frames returns the frames of the calling goroutine, the innermost first. It takes some
// nanoseconds a frame. It returns none where StackSum fails.
func Frames() []Frame {
	all := make([]Frame, stackFrames(nil))
	stackFrames(all)
	for i := range len(all) - 1 {
		all[i].caller = all[i+1].place
	}
	return all
}

// IsHere reports whether the frame is on the calling goroutine's stack, to which it must have
// belonged before. It takes a nanosecond or two for each frame above. It returns false where
// StackSum fails.
func (f Frame) IsHere() bool { return f.place != 0 && stackHas(f.depth, f.place, f.caller) }
