package cocoon

import (
	"context"

	"github.com/cocoon-go/cocoon/internal/inside"
	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/notify"
	"github.com/cocoon-go/cocoon/stubs"
)

// concerned reports whether a policy of the event must be evaluated for s. It takes no lock. A
// version that has just been replaced is silent, and matches no names any more, so a no counts only
// if the list is still in force: replace changes the list first.
func (l *Loop) concerned(s *strand, e stubs.Event) bool {
	list := l.hub.Listeners(uint16(e))
	for {
		for _, b := range list {
			if b.concerns(s) && !b.silent() {
				return true
			}
		}
		now := l.hub.Listeners(uint16(e))
		if len(now) == 0 || len(list) > 0 && &now[0] == &list[0] {
			return false
		}
		list = now
	}
}

// evaluateEach evaluates a policy for each matching running task, or once if the policy refers to
// no task. Called under the loop's lock, with the view's notification filled in.
func (l *Loop) evaluateEach(b *bound, now int64) {
	if !b.perTask {
		if b.takes(nil) {
			l.view.about(nil, nil)
			l.evaluate(b, now)
		}
		return
	}
	l.running(func(s *strand) bool {
		if b.concerns(s) {
			l.view.about(s, nil)
			l.evaluate(b, now)
		}
		return true
	})
}

// happened evaluates the policies of an event of s. Called by the task's goroutine.
func (l *Loop) happened(s *strand, e stubs.Event) {
	l.lockAll()
	defer l.unlock()
	l.evaluateEvent(s, e, notify.Now())
}

// evaluateEvent evaluates the policies of an event of s. Called under the loop's lock.
func (l *Loop) evaluateEvent(s *strand, e stubs.Event, now int64) {
	for _, b := range l.hub.Listeners(uint16(e)) {
		if b.concerns(s) {
			l.view.about(s, nil)
			l.evaluate(b, now)
		}
	}
}

// arriving evaluates the enqueue policies for s, which has arrived and waits, or has taken a free
// slot. A policy that also refers to running tasks is evaluated for each preemptible task that
// might make room, until one is switched, or once without a running task if there is none. Every
// other policy is evaluated once. A throw refuses s. Called under the loop's lock.
func (l *Loop) arriving(s *strand, now int64) {
	for _, b := range l.hub.Listeners(uint16(stubs.Enqueue)) {
		if !b.matches(s) {
			continue
		}
		asked := b.asking && s.core.State() == sched.Queued && l.askToMakeRoom(b, s, now)
		if !asked && (!b.mild || b.places) {
			if l.view.about(nil, s); b.mayAct(&l.view) {
				l.evaluate(b, now)
			}
		}
		if s.withdrawn != nil {
			return
		}
	}
}

// askToMakeRoom evaluates an enqueue policy for s, which waits, and each running preemptible task,
// until one of them will be switched. It reports whether there was any such task. Called under the
// loop's lock.
func (l *Loop) askToMakeRoom(b *bound, s *strand, now int64) (asked bool) {
	l.running(func(c *strand) bool {
		if c.core.Kind&Preemptible == 0 {
			return true
		}
		asked = true
		l.view.about(c, s)
		return !b.mayAct(&l.view) || !l.evaluate(b, now)
	})
	return asked
}

// returning evaluates the mild enqueue policies for s, which has run before and waits for a slot
// again. s can no longer be refused, but other tasks may make room for it as for an arriving task,
// and its place in the queue may change. Called under the loop's lock.
func (l *Loop) returning(s *strand, now int64) {
	for _, b := range l.hub.Listeners(uint16(stubs.Enqueue)) {
		if !b.mild || !b.matches(s) {
			continue
		}
		if asked := b.asking && l.askToMakeRoom(b, s, now); !asked && b.places {
			if l.view.about(nil, s); b.mayAct(&l.view) {
				l.evaluate(b, now)
			}
		}
	}
}

// notifyCustom evaluates the policies of a custom event.
func (l *Loop) notifyCustom(name string, value float64) { l.custom(nil, name, value) }

// happen raises a custom event about the task of ctx.
func happen(ctx context.Context, name string, value float64) {
	if s := strandOf(ctx); s != nil {
		s.loop.custom(s, name, value)
	}
}

func init() { inside.Happen = happen }

// custom evaluates the policies of a custom event: for s, or for each running task if s is nil.
func (l *Loop) custom(s *strand, name string, value float64) {
	if !l.wants(stubs.Custom) {
		return
	}
	l.lockAll()
	defer l.unlock()
	now := notify.Now()
	l.view.event, l.view.text, l.view.value = stubs.Intern(name), name, value
	defer func() { l.view.text = "" }() // the text belongs to the caller
	noteEvent(l.view.event, name)
	for _, b := range l.hub.Listeners(uint16(stubs.Custom)) {
		switch c := b.version.spec.On.Custom; {
		case c != "" && c != name:
		case s == nil || !b.perTask:
			l.evaluateEach(b, now)
		case b.concerns(s):
			l.view.about(s, nil)
			l.evaluate(b, now)
		}
	}
}

// Notify raises the custom event called name. The policies registered for it are evaluated on the
// calling goroutine, for each running task, or once per loop if they refer to no task.
func (rt *Runtime) Notify(name string, value float64) {
	for _, l := range *rt.loops.Load() {
		l.notifyCustom(name, value)
	}
}
