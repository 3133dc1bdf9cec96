package guest

import (
	"context"

	"github.com/tetratelabs/wazero/api"
)

// A call that finds the instance free takes the instance's lock twice: begin does at once what join,
// ask, stacks.take and take do, and finish does what putBack, leave and part do. A call that finds
// it otherwise, a nested call and a thread take these steps one by one:
//
//	live: join ... part          close throws into it
//	turn: enter ... leave        its globals are set, and it runs
//	code: take ... putBack
//
// Between begin and finish the call is live and has the turn, as if it had taken the steps. So
// close, Pause, a throw and other threads meet it in no state that they do not meet otherwise.

// begin makes a one of the instance's live calls, unless the instance is closed. If the instance is
// free, a also gets the turn, a stack and the function's code, which begin returns. Otherwise the
// code is nil, and a must take these steps itself.
func (in *Instance) begin(a *activation) (fn api.Function, err error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if err := in.refused(); err != nil {
		return nil, err
	}
	in.add(a)
	if a.outer != nil || !in.turns.free() || in.mustBeAlone() || in.separate() && in.stacks.taken {
		return nil, nil
	}
	if fn = in.takeIdle(a.function); fn == nil {
		return nil, nil // the first call of the function: wazero makes its code without the lock
	}
	in.turns.ask(a)
	if in.separate() {
		a.stack, _ = in.stacks.take()
		a.sp = a.stack.pointer
	}
	return fn, nil
}

// finish ends a call to which begin gave the function's code.
func (a *activation) finish(fn api.Function) {
	in := a.in
	a.save()
	in.mu.Lock()
	in.keep(a.function, fn)
	in.turns.leave().wake()
	last := in.remove(a)
	in.mu.Unlock()
	a.end(nil)
	if last {
		in.free(context.Background())
	}
}
