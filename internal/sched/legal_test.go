package sched

import (
	"cmp"
	"slices"
)

// legal returns why a shell cannot do o now, or "".
func (w *world) legal(o op) string {
	a, b := w.find(o.task), w.find(o.with)
	is := func(a *actor, states ...State) string {
		switch {
		case a == nil:
			return "no such task"
		case !slices.Contains(states, a.State()):
			return a.name + " is " + a.State().String()
		case a.inner != nil:
			return a.name + " is in its nested task"
		}
		return ""
	}
	switch o.verb {
	case "arrive":
		if a != nil {
			return "arrived already"
		}
		return w.mayWait()
	case "adopt":
		switch {
		case a != nil:
			return "arrived already"
		case w.c.Opened() == 0:
			return "no slot is open"
		case int64(o.d) > w.now-w.openedAt[w.anOpenSlot()]:
			return "the slot was not open then"
		}
	case "block":
		return is(a, Running, Lent)
	case "unblock":
		return cmp.Or(is(a, Blocked, Lent), w.mayWait())
	case "yield":
		return cmp.Or(is(a, Running, Lent), w.mayWait())
	case "lend":
		return is(a, Running)
	case "surface":
		return is(a, Blocked)
	case "discount":
		return is(a, Running, Lent)
	case "suspend", "withdraw", "account", "rank", "background":
		if a == nil {
			return "no such task"
		}
	case "exit":
		if a != nil && a.outer != nil {
			return "a nested task ends with unnest"
		}
		return is(a, Running, Lent, Blocked)
	case "nest":
		if b != nil {
			return "arrived already"
		}
		return is(a, Running, Lent)
	case "unnest":
		if a == nil || b == nil || a.inner != b {
			return "not nested"
		}
		return is(b, Running, Lent, Blocked)
	case "release":
		if w.holds == 0 {
			return "no hold"
		}
	case "hold":
		return w.mayWait()
	case "resize":
		if o.rank < 1 || o.rank > int64(w.cfg.Slots) {
			return "no such size"
		}
		return w.mayWait()
	case "load", "open", "shut", "startlent":
	case "advance":
		if o.d <= 0 {
			return "time goes forward"
		}
	default:
		return "no such command"
	}
	return ""
}

// mayWait returns why the shell must not let a task wait, or "": it must first shut the open slots.
func (w *world) mayWait() string {
	if w.c.Opened() > 0 {
		return "a slot is open"
	}
	return ""
}

func (w *world) anOpenSlot() int {
	return slices.IndexFunc(w.c.slots, func(s slot) bool { return s.open })
}
