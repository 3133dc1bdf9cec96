package cocoon

import (
	"fmt"

	"github.com/cocoon-go/cocoon/notify"
)

// Hold keeps new tasks of the loop from starting until Release has been called as often as Hold.
// Tasks that have started keep running. An application calls Hold when it runs out of a resource
// (the component model's backpressure counter).
func (l *Loop) Hold() {
	l.lockAll()
	defer l.unlock()
	l.core.Hold()
}

// Release undoes one Hold. A Release without a Hold panics.
func (l *Loop) Release() {
	l.lockAll()
	defer l.unlock()
	now := notify.Now()
	if l.core.Load(now).Holds == 0 {
		panic(fmt.Sprintf("cocoon: loop %q: Release without Hold", l.cfg.Name))
	}
	l.core.Release(now)
	l.deliver(now)
}
