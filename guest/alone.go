package guest

import "context"

// A call that finds the instance vacant, without any other call, takes no lock: it claims the
// instance, and releases it at its end. Whoever takes the instance's lock meanwhile first turns the
// claim into what the call would have done under the lock. Then the call ends under the lock, too.
// Between two calls, claim is &vacant; while a call has claimed the instance, it is that call;
// otherwise it is nil, and only the lock decides.
//
// A call that finds other calls in the instance, but the turn free, takes the lock twice: begin
// does at once what join, ask and stacks.take do, and finish does what leave and part do. Any other
// call, a nested one and a thread take these steps one by one:
//
//	live: join ... part          close throws into it
//	turn: enter ... leave        its globals are set, and it runs
//	code: take ... putBack
//
// Between begin and finish the call is live and has the turn, as if it had taken the steps. So
// close, Pause, a throw and other threads meet it in no state that they do not meet otherwise.

// vacant is the claim of nobody.
var vacant activation

// lock takes the instance's lock, and the claim from the call that has it.
func (in *Instance) lock() {
	in.mu.Lock()
	if a := in.claim.Swap(nil); a != nil && a != &vacant {
		in.add(a)
		in.turns.ask(a)
		in.stacks.taken = in.separate()
	}
}

// unlock releases the lock. The next call may claim the instance if nothing is left that it would
// have to find under the lock.
func (in *Instance) unlock() {
	if in.cause == nil && len(in.live) == 0 && in.turns.free() && !in.mustBeAlone() {
		in.claim.Store(&vacant)
	}
	in.mu.Unlock()
}

// begin makes a one of the instance's live calls, unless the instance is closed, and reports
// whether a also has the turn, and a stack. Otherwise a must take these steps itself.
func (in *Instance) begin(a *activation) (ready bool, err error) {
	if a.outer == nil && in.claim.CompareAndSwap(&vacant, a) {
		if in.separate() {
			a.stack = stack{pointer: in.stacks.base, own: true}
			a.sp = a.stack.pointer
		}
		return true, nil
	}
	in.lock()
	defer in.unlock()
	if err := in.refused(); err != nil {
		return false, err
	}
	in.add(a)
	if a.outer != nil || !in.turns.free() || in.mustBeAlone() || in.separate() && in.stacks.taken {
		return false, nil
	}
	in.turns.ask(a)
	if in.separate() {
		a.stack, _ = in.stacks.take()
		a.sp = a.stack.pointer
	}
	return true, nil
}

// finish ends a call that begin has made ready.
func (in *Instance) finish(a *activation) {
	a.save()
	if a.stack.own {
		in.stacks.base = a.sp // other calls read it only while no call has this stack
	}
	last := false
	alone := in.claim.CompareAndSwap(a, &vacant)
	if !alone {
		in.lock()
		in.turns.leave().wake()
		last = in.remove(a)
		in.unlock()
	}
	a.over()
	if alone && a.brief {
		*a = activation{}
		used.Put(a)
	}
	if last {
		in.free(context.Background())
	}
}
