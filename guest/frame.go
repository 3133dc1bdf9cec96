package guest

import (
	"context"
	"fmt"
	"sync/atomic"
)

// A frame is the fuel that the threads of an instance may use together until they are stopped.
type frame struct {
	left  atomic.Int64  // negative: what the last frame has overdrawn
	bound atomic.Bool   // the frame ends when nothing is left
	used  chan struct{} // closed then; guarded by the instance's lock
}

// RunFuel runs the instance's threads until they have used n units of fuel together, or until all
// have ended, and pauses the instance. It returns the number of threads that have not ended. The
// running thread stops at its next safe point, before RunFuel returns. The fuel that it has used
// beyond n is taken from the next RunFuel. So a program stops at the same instructions on every
// machine. Calls of other instances by host functions count, too, but run to their end. If ctx ends
// first, RunFuel pauses the instance at once and returns the cause. RunFuel needs the mechanism Fuel,
// and returns an error inside a call of the instance itself. Only one RunFuel or RunFor may run at a
// time.
func (in *Instance) RunFuel(ctx context.Context, n int64) (left int, err error) {
	switch c := &in.module.config; {
	case c.Mechanism != Fuel:
		return 0, fmt.Errorf("%s: RunFuel needs fuel; set Config.Mechanism to guest.Fuel", about(c.Name))
	case activationOf(ctx).inside(in):
		return 0, fmt.Errorf("%s: RunFuel inside a call of the instance, which would stop with the threads that it runs", about(c.Name))
	case n <= 0:
		return 0, fmt.Errorf("%s: RunFuel for %d units of fuel; want 1 or more", about(c.Name), n)
	}
	used := make(chan struct{})
	in.lock()
	rest := n + min(in.frame.left.Load(), 0)
	in.frame.left.Store(rest)
	in.frame.used = used
	in.frame.bound.Store(rest > 0)
	in.unlock()
	if rest <= 0 { // the frame pays for an earlier one
		in.Pause()
		return in.threads(), nil
	}
	defer in.frame.bound.Store(false)
	return in.runUntil(ctx, nil, used)
}

// chargeFrames takes from the frame of the call's instance, and from the frames of the instances in
// which the call is nested.
func (a *activation) chargeFrames(n int64) {
	for o := a; o != nil; o = o.outer {
		if f := &o.in.frame; f.bound.Load() && a.within(o.in) == o { // once for each instance
			f.charge(n)
		}
	}
}

// charge takes from the frame's fuel.
func (f *frame) charge(n int64) {
	if f.bound.Load() {
		f.left.Add(-n)
	}
}

// look pauses the instance if the frame's fuel is used up.
func (f *frame) look(in *Instance) {
	if !f.bound.Load() || f.left.Load() > 0 {
		return
	}
	in.lock()
	defer in.unlock()
	if f.used != nil {
		in.turns.paused = in.cause == nil
		in.alert.Store(true)
		close(f.used)
		f.used = nil
	}
}

// cut returns how much fuel the guest gets now: n, unless the frame ends before. It is negative if
// the frame is used up.
func (f *frame) cut(n int64) int64 {
	if f.bound.Load() {
		n = min(n, f.left.Load()-1)
	}
	return n
}
