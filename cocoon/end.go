package cocoon

import "slices"

// withdraw is abandon without policies, for a task that a policy refuses. Called under the loop's
// lock.
func (s *strand) withdraw(why error, now int64) bool {
	if !s.loop.core.Withdraw(&s.core, now) {
		return false
	}
	s.withdrawn = &withdrawal{why}
	if s.unseated {
		s.loop.leftQueue(s, now)
	}
	s.end(now)
	s.token() <- struct{}{}
	return true
}

// end detaches the strand from its task. Called under the loop's lock.
func (s *strand) end(now int64) {
	l := s.loop
	if s.handle != nil {
		s.handle.account = s.account(now)
	}
	if s.next != nil {
		s.next.prev = s.prev
	}
	if s.prev != nil {
		s.prev.next = s.next
	} else {
		l.live = s.next
	}
	if s.requests.Load() != 0 {
		s.lower()
		s.requests.Store(0)
	}
	s.prev, s.next = nil, nil
	s.task.known = false
	s.counted = s.task.up.Load() != nil
	s.dropThrow()
	s.task = nil
	if s.counted { // until its parent has forgotten it
		return
	}
	l.rt.tasks.Add(-1)
	if l.closed {
		l.rt.ended()
	}
}

// forget removes the runtime from the list in which polls find their tasks. The runtime has no task
// and will have none. forget may be called twice.
func (rt *Runtime) forget() {
	changeRuntimes(func(l []*Runtime) []*Runtime {
		return slices.DeleteFunc(l, func(r *Runtime) bool { return r == rt })
	})
}

// ended records that a task of a closed loop has ended, for Shutdown, which waits for the last one.
// After Shutdown it also forgets the runtime. Called under the loop's lock; the lock of the list of
// runtimes is taken after it.
func (rt *Runtime) ended() {
	if rt.tasks.Load() > 0 {
		return
	}
	select {
	case rt.empty <- struct{}{}:
	default:
	}
	if rt.forgettable.Load() {
		rt.forget()
	}
}
