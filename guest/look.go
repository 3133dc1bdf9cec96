package guest

import (
	"context"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/notify"
)

// look charges the work done since the last safe point. It then handles what concerns the call: a
// closed or paused instance, a used-up fuel slice (FuelEvent), a pending request, an ended context
// or budget, and the end of the slice.
func (a *activation) look() {
	a.charge()
	a.in.frame.look(a.in)
	if a.in.alert.Load() {
		a.heed()
	}
	if a.account.fuelOver() {
		inside.Happen(a.Context, FuelEvent, float64(a.account.used.Load()))
	}
	a.pause(true)
	if in := a.in; in.left != nil && in.given < 0 { // a recursive function would look again and again
		in.given = 0
		in.left.Set(0)
	}
}

// lookBack is look where no slice, budget and frame of fuel ends: these places depend on the clock.
func (a *activation) lookBack() {
	a.charge()
	if a.in.alert.Load() {
		a.heed()
	}
	a.in.pace.looksEarly()
	a.pause(false)
}

// pause handles a pending request, an ended context, the end of the budget if it may end here, and
// the end of the slice. Then it lets the guest continue.
func (a *activation) pause(budget bool) {
	if a.asked() {
		a.keeper().apart(func() { cocoon.SafePoint(a.Context) })
	} else {
		cocoon.SafePoint(a.Context)
	}
	a.heedContext(budget)
	now := notify.Now()
	a.in.pace.passed(now)
	if a.account.over(now) {
		a.pass(true)
	}
	a.refill(false)
}

// heed ends the call if the instance is closed, and waits while it is paused.
func (a *activation) heed() {
	if err := a.in.refusal(); err != nil {
		cocoon.SafePoint(a.Context) // a throw says more
		a.stop(err)
	}
	a.pass(false)
}

// heedContext ends the call if its context has ended, or its budget.
func (a *activation) heedContext(budget bool) {
	if a.Context.Err() != nil {
		a.stop(context.Cause(a.Context))
	}
	if acc := a.account; budget && acc.exhausted() {
		a.stop(&FuelError{Function: a.function.task, Used: acc.used.Load(), Budget: acc.budget.Load()})
	}
}
