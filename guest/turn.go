package guest

import (
	"context"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/notify"
)

// enter waits for the turn, before the guest runs. It returns an error if the instance is closed or
// the task's context ends, and may throw.
func (a *activation) enter() error {
	in := a.in
	in.lock()
	granted := !a.reserved && in.turns.ask(a)
	a.reserved = false
	if !granted {
		a.listen()
	}
	in.unlock()
	if !granted {
		if err := a.await(); err != nil {
			return err
		}
		a.account.until = 0
	}
	a.proceed()
	return nil
}

// listen prepares a, which waits for the turn, for being granted it. Called under the instance's
// lock: most calls never wait, and need no channel.
func (a *activation) listen() {
	if a.ready == nil {
		a.ready = make(chan struct{}, 1)
	}
}

// reserve queues a for the turn before it asks itself: enter then waits for the turn.
func (a *activation) reserve() {
	a.in.lock()
	defer a.in.unlock()
	a.listen()
	if a.in.turns.ask(a) {
		a.wake()
	}
	a.reserved = true
}

// wake tells a, which may be nil, that it has the turn. Called under the instance's lock: code that
// finds under the lock that a has the turn also finds the value in the channel.
func (a *activation) wake() {
	if a != nil {
		a.ready <- struct{}{} // there is room: each grant is received before the next
	}
}

// await waits, without a slot, until a has the turn. If it returns an error, or throws, a neither
// has the turn nor waits for it.
func (a *activation) await() error {
	granted := false
	defer func() {
		if !granted {
			a.giveUp()
		}
	}()
	if a.outer != nil && !a.outer.in.shares() {
		if err := a.waitFor(); err != nil {
			return err
		}
		defer a.waitedFor()
	}
	return cocoon.Block(a.Context, func() error {
		select {
		case <-a.ready:
			granted = true
			return nil
		case <-a.in.closing:
			return a.in.refusal()
		case <-a.Context.Done():
			return context.Cause(a.Context)
		}
	})
}

// giveUp withdraws a from the queue for the turn, or passes the turn on if a has just got it.
func (a *activation) giveUp() {
	a.in.lock()
	defer a.in.unlock()
	if a.in.turns.holder == a {
		<-a.ready
		a.in.turns.leave().wake()
	} else {
		a.in.turns.withdraw(a)
	}
}

// insist waits for the turn as long as it takes. A call that ends needs the turn while it unwinds,
// because deferred calls of host functions may use the guest's memory.
func (a *activation) insist() {
	a.in.lock()
	granted := a.in.turns.insist(a)
	if !granted {
		a.listen()
	}
	a.in.unlock()
	if !granted {
		cocoon.Block(context.WithoutCancel(a.Context), func() error { <-a.ready; return nil })
	}
	a.proceed()
}

// leave gives the turn to the next thread.
func (a *activation) leave() {
	a.save()
	a.in.lock()
	defer a.in.unlock()
	a.in.turns.leave().wake()
}

// quit is leave for a call that has ended. It gives the stack back before the next thread runs:
// otherwise that thread would get another stack, or not, depending on the machine.
func (a *activation) quit() {
	a.save()
	a.in.lock()
	defer a.in.unlock()
	a.in.putStack(a)
	a.gone = true
	a.in.turns.leave().wake()
}

// must ends the call a half-way if regain, by which k waits for the turn, fails.
func (a *activation) must(k *activation, regain func() error) {
	has := false
	defer func() {
		if !has {
			k.insist()
		}
	}()
	if err := regain(); err != nil {
		a.stop(err)
	}
	has = true
}

// shares reports whether a call lets other calls run in its instance while it waits. A
// deterministic call waits with the turn, because other calls would run for a time that depends on
// the machine.
func (in *Instance) shares() bool {
	return in.module.config.Threads && !in.module.config.Deterministic
}

// apart runs fn while other threads of the instance may run.
func (a *activation) apart(fn func()) {
	if a.in.shares() {
		a.away(fn)
	} else {
		fn()
	}
}

// away runs fn without the turn. A call of away inside fn runs its function directly: a has no turn
// to leave there, and leaving would take the turn from another thread.
func (a *activation) away(fn func()) {
	if a.absent {
		fn()
		return
	}
	a.leave()
	unwinds := true
	a.absent = true
	defer func() {
		if unwinds {
			a.absent = false
			a.cancelReserved()
			a.insist()
		}
	}()
	fn()
	unwinds, a.absent = false, false
	a.must(a, a.enter)
}

// cancelReserved withdraws a if it was queued before it asked.
func (a *activation) cancelReserved() {
	if a.reserved {
		a.reserved = false
		a.giveUp()
	}
}

// pass lets other threads of the instance, and other tasks of the loop, go first. It waits while
// the instance is paused. over reports whether the slice is over: otherwise a stops for a pause
// only.
func (a *activation) pass(over bool) {
	k := a.keeper()
	k.save()
	k.account.until = 0
	next := k.hand(over)
	switch {
	case next != k:
		a.must(k, k.await)
		k.proceed()
	case a.in.shares():
		k.apart(func() { cocoon.Yield(a.Context) })
	default:
		if !a.in.module.config.Deterministic {
			cocoon.Yield(a.Context)
		}
		k.proceed()
	}
}

// hand hands the turn on, if another thread may have it, and returns the thread that has it now. In
// a deterministic instance only the end of a slice selects another thread, even when a pause begins
// at that moment, or is over before a notices it.
func (a *activation) hand(over bool) (next *activation) {
	a.in.lock()
	defer a.in.unlock()
	a.listen()
	switch u := &a.in.turns; {
	case a.in.shares(), over && a.in.module.config.Deterministic:
		next = u.pass(a)
	case u.paused:
		next = u.retire(a)
	default:
		return a
	}
	if next != a {
		next.wake()
	}
	return next
}

// keeper returns the call that has the turn for a: a, or a call that a is nested in.
func (a *activation) keeper() *activation {
	if a.kept != nil {
		return a.kept
	}
	return a
}

// save keeps what is a's of the guest's globals.
func (a *activation) save() {
	a.charge()
	if a.in.separate() {
		a.sp = a.in.sp.Get()
	}
}

// proceed prepares the guest's globals for a, which has got the turn.
func (a *activation) proceed() {
	if a.in.separate() && a.sp != 0 {
		a.in.sp.Set(a.sp)
	}
	now := notify.Now()
	a.account.begin(now)
	a.in.pace.restart(now)
	a.refill(a.account.over(now))
}
