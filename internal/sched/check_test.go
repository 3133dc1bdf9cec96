package sched

import "fmt"

// seat is the part of a task's state that a picture records: enough to see what a call changed.
type seat struct {
	state State
	slot  int
	seq   uint64
	since int64
	place place
}

// picture is the seats of all tasks, in the order in which they arrived.
type picture []struct {
	a *actor
	seat
}

// of returns the seat of a. If a is not in the picture, its seat is zero, as of a new task.
func (p picture) of(a *actor) seat {
	for i := range p {
		if p[i].a == a {
			return p[i].seat
		}
	}
	return seat{}
}

func (w *world) picture() picture {
	p := make(picture, len(w.actors))
	for i, a := range w.actors {
		p[i].a, p[i].seat = a, seat{a.state, a.Slot(), a.seq, a.since, a.place}
	}
	return p
}

// checkGrants checks that every grant is reported: the tasks that hold a slot now and did not
// before are exactly those in Granted, each once, and the task that the call's result named.
func (w *world) checkGrants(before, after picture, granted []*Task, self *actor) error {
	told := map[*Task]bool{}
	for _, t := range granted {
		if told[t] {
			return fmt.Errorf("%s granted twice", w.nameOf(t))
		}
		told[t] = true
	}
	if self != nil {
		if told[&self.Task] {
			return fmt.Errorf("%s is in Granted and in the result", self.name)
		}
		told[&self.Task] = true
	}
	for _, e := range after {
		a, now := e.a, e.seat
		was := before.of(a)
		news := now.state == Running && was.state != Running
		if a == self && now.state == Running {
			news = true
		}
		if news != told[&a.Task] {
			return fmt.Errorf("%s went from %v to %v, told of a slot: %t", a.name, was.state, now.state, told[&a.Task])
		}
		delete(told, &a.Task)
		// It took over another task's slot.
		nests := a == self && (a.outer != nil || was.state == Blocked)
		if news && int(now.slot) >= w.usable && was.state != Suspended && was.state != Running && !nests {
			return fmt.Errorf("%s was %v and got slot %d, and %d slots are usable", a.name, was.state, now.slot, w.usable)
		}
	}
	if len(told) > 0 {
		return fmt.Errorf("a slot granted to a task that has ended")
	}
	return nil
}

// checkState checks the invariants of every state.
func (w *world) checkState() error {
	checks := []func() error{w.checkSlots, w.checkLists, w.checkIdle}
	if !w.jumpy {
		checks = append(checks, w.checkTasks, w.checkLoad, w.checkGroups)
	}
	for _, check := range checks {
		if err := check(); err != nil {
			return err
		}
	}
	return nil
}

// checkSlots checks that slots and tasks agree, that no slot is lost, and that a task that runs
// over a suspended one is safe.
func (w *world) checkSlots() error {
	held := map[*Task]int{}
	busy, suspended := 0, 0
	open := 0
	for i := range w.c.slots {
		s := &w.c.slots[i]
		if s.open {
			open++
			if s.current != nil || s.suspended.n > 0 {
				return fmt.Errorf("slot %d is open, and tasks are in it", i)
			}
		}
		if t := s.current; t != nil {
			busy++
			if other, twice := held[t]; twice {
				return fmt.Errorf("%s holds slots %d and %d", w.nameOf(t), other, i)
			}
			held[t] = i
			if t.state != Running || t.Slot() != i {
				return fmt.Errorf("slot %d is held by %s, which is %v in slot %d", i, w.nameOf(t), t.state, t.slot)
			}
			if s.suspended.n > 0 && t.Kind&Safe == 0 {
				return fmt.Errorf("%s is not safe and runs over a suspended task in slot %d", w.nameOf(t), i)
			}
		}
		unsafe := 0
		for t := s.suspended.head; t != nil; t = t.next {
			suspended++
			if t.state != Suspended || t.Slot() != i {
				return fmt.Errorf("%s is %v in slot %d, and listed as suspended in %d", w.nameOf(t), t.state, t.slot, i)
			}
			if t.Kind&Preemptible == 0 {
				return fmt.Errorf("%s is suspended and not preemptible", w.nameOf(t))
			}
			if t.Kind&Safe == 0 {
				unsafe++
			}
			if t.Kind&Safe == 0 && t != s.suspended.head {
				return fmt.Errorf("%s is suspended over another and not safe", w.nameOf(t))
			}
		}
		if unsafe > 1 {
			return fmt.Errorf("slot %d has %d suspended tasks that are not safe", i, unsafe)
		}
	}
	if busy != w.c.busy || suspended != w.c.susp || open != w.c.Opened() {
		return fmt.Errorf("busy %d, suspended %d, open %d; counted as %d, %d, %d", busy, suspended, open, w.c.busy, w.c.susp, w.c.Opened())
	}
	running := 0
	for _, a := range w.actors {
		if a.state == Running {
			running++
		}
	}
	if running != busy {
		return fmt.Errorf("%d tasks run in %d busy slots", running, busy)
	}
	return nil
}

// checkLists checks that every task that waits or is suspended is in exactly one list, that all
// other tasks are in none, and that the lists are well-formed.
func (w *world) checkLists() error {
	in := map[*Task]int{}
	walk := func(l *list) error {
		n := 0
		var last *Task
		for t := l.head; t != nil; last, t = t, t.next {
			if t.prev != last {
				return fmt.Errorf("the list is torn before %s", w.nameOf(t))
			}
			in[t]++
			if n++; n > len(w.actors) {
				return fmt.Errorf("a list is longer than there are tasks")
			}
		}
		if l.tail != last || l.n != n {
			return fmt.Errorf("a list of %d counts %d", n, l.n)
		}
		return nil
	}
	for i := range w.c.slots {
		if err := walk(&w.c.slots[i].suspended); err != nil {
			return err
		}
	}
	ranked := 0
	for i := range w.c.wait.queues {
		q := &w.c.wait.queues[i]
		if err := walk(&q.list); err != nil {
			return err
		}
		if err := w.checkHeap(q); err != nil {
			return err
		}
		if some := w.c.wait.some>>i&1 == 1; some != (q.n > 0) {
			return fmt.Errorf("a queue of %d is marked %v", q.n, some)
		}
		for t := q.head; t != nil; t = t.next {
			if t.state != Queued && t.state != Ready || w.c.wait.queueOf(t) != q || t.next != nil && t.next.seq <= t.seq {
				return fmt.Errorf("%s is %v and waits in the wrong list or order", w.nameOf(t), t.state)
			}
			if t.place != (place{}) {
				ranked++
			}
		}
	}
	if ranked != w.c.wait.ranked {
		return fmt.Errorf("%d tasks with a rank wait; counted as %d", ranked, w.c.wait.ranked)
	}
	listed := 0
	for _, a := range w.actors {
		want := 0
		if a.state == Queued || a.state == Ready || a.state == Suspended {
			want = 1
		}
		if in[&a.Task] != want {
			return fmt.Errorf("%s is %v and in %d lists", a.name, a.state, in[&a.Task])
		}
		listed += want
	}
	if len(in) != listed {
		return fmt.Errorf("a task that has ended is in a list")
	}
	return nil
}

// checkHeap checks that a queue's heap has all of its tasks, each before later ones, or is empty
// while the tasks have one rank.
func (w *world) checkHeap(q *queue) error {
	if len(q.heap) == 0 {
		for t := q.head; t != nil && t.next != nil; t = t.next {
			if t.place != t.next.place {
				return fmt.Errorf("%s and %s differ in place and are not in a heap", w.nameOf(t), w.nameOf(t.next))
			}
		}
		return nil
	}
	if len(q.heap) != q.n {
		return fmt.Errorf("%d of %d tasks are in the heap", len(q.heap), q.n)
	}
	for i, t := range q.heap {
		if int(t.at) != i || w.c.wait.queueOf(t) != q {
			return fmt.Errorf("%s is in the heap at %d, and believes to be at %d", w.nameOf(t), i, t.at)
		}
		if i > 0 && t.precedes(q.heap[(i-1)/2]) {
			return fmt.Errorf("%s precedes %s, which is above it in the heap", w.nameOf(t), w.nameOf(q.heap[(i-1)/2]))
		}
	}
	return nil
}

// checkIdle checks that no slot idles while a task could use it, or is suspended in it.
func (w *world) checkIdle() error {
	free := -1
	for i := range w.c.slots {
		switch s := &w.c.slots[i]; {
		case s.current != nil:
		case i < w.usable:
			free = i
		case s.suspended.n > 0:
			return fmt.Errorf("slot %d is free with %d tasks suspended in it", i, s.suspended.n)
		}
	}
	if free < 0 {
		return nil
	}
	for _, a := range w.actors {
		if a.state == Ready || a.state == Suspended || a.state == Queued && !w.held() {
			return fmt.Errorf("slot %d is free and %s is %v", free, a.name, a.state)
		}
	}
	return nil
}

// held is the world's own computation of backpressure.
func (w *world) held() bool {
	return w.holds > 0 || w.cfg.MaxStarted > 0 && w.started() >= w.cfg.MaxStarted
}

func (w *world) started() int {
	n := 0
	for _, a := range w.actors {
		if a.state != Queued {
			n++
		}
	}
	return n
}

// checkTasks checks that accounts add up, and that only tasks in a slot have a slot number.
func (w *world) checkTasks() error {
	if n := w.started(); n != w.c.started {
		return fmt.Errorf("%d tasks have started and not ended; counted as %d", n, w.c.started)
	}
	for _, a := range w.actors {
		acc := a.Account(w.now)
		if sum, want := acc.Queued+acc.Running+acc.Suspended+acc.Blocked+acc.Starved, w.now-a.Arrived(); sum != want {
			return fmt.Errorf("%s: the account sums up to %d of %d ns", a.name, sum, want)
		}
		if min(acc.Queued, acc.Running, acc.Suspended, acc.Blocked) < 0 {
			return fmt.Errorf("%s: negative time in %+v", a.name, acc)
		}
		if in := a.state == Running || a.state == Suspended; in != (a.slot >= 0) {
			return fmt.Errorf("%s is %v in slot %d", a.name, a.state, a.slot)
		}
		if a.state == New || a.state == Done {
			return fmt.Errorf("%s is %v among the living", a.name, a.state)
		}
	}
	return nil
}

// checkLoad checks that the figures of Load match the state.
func (w *world) checkLoad() error {
	want := Load{Slots: w.usable, Holds: w.holds, BusyTime: w.busyTime}
	fresh := 0
	for _, a := range w.actors {
		switch a.state {
		case Running:
			want.Busy++
		case Suspended:
			want.Suspended++
		case Queued, Ready:
			want.Waiting++
			if a.Kind&Safe != 0 {
				want.WaitingSafe++
			}
			want.Oldest = max(want.Oldest, w.now-a.since)
			if a.state == Queued {
				fresh++
			}
		}
	}
	if got := w.c.Load(w.now); got != want {
		return fmt.Errorf("load is %+v, want %+v", got, want)
	}
	wanted := want.Suspended > 0
	for _, a := range w.actors {
		wanted = wanted || a.state == Ready || a.state == Queued && !w.c.held()
	}
	if got := w.c.Wanted(); got != wanted {
		return fmt.Errorf("wanted is %t, want %t", got, wanted)
	}
	if w.cfg.MaxQueue > 0 && fresh > w.cfg.MaxQueue {
		return fmt.Errorf("%d new tasks wait, more than MaxQueue", fresh)
	}
	return nil
}

// checkGroups checks that the account of a group is the sum of its tasks' accounts.
func (w *world) checkGroups() error {
	for name, g := range w.groups {
		var live, waiting, busy int
		running := g.running
		for _, a := range w.actors {
			if a.Group != &g.Group {
				continue
			}
			live++
			running += a.Account(w.now).Running
			switch a.state {
			case Queued, Ready:
				waiting++
			case Running, Lent:
				busy++
			}
		}
		if g.Live() != live || g.Waiting() != waiting || g.Busy() != busy || g.Ended() != g.ended || g.Running(w.now) != running {
			return fmt.Errorf("group %s is %+v at %d; want %d live, %d waiting, %d busy, %d ended, %d running",
				name, &g.Group, w.now, live, waiting, busy, g.ended, running)
		}
	}
	return nil
}
