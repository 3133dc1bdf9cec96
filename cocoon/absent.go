package cocoon

// addLent and addParked take s in. s must be in neither list.
func (a *absent) addLent(s *strand) { s.absentAt = push(&a.lent, s); a.join(s) }
func (a *absent) addParked(s *strand) {
	s.parked.Store(true)
	s.absentAt = push(&a.parked, s)
	a.join(s)
}

func (a *absent) join(s *strand) {
	if a.byG == nil {
		a.byG = map[uintptr]*strand{}
	}
	g := s.g.Load()
	s.sameG, a.byG[g] = a.byG[g], s
	a.n.Add(1)
	s.lent.Store(lentSlot)
}

// runs moves s from parked to lent.
func (a *absent) runs(s *strand) {
	take(&a.parked, s)
	s.parked.Store(false)
	s.absentAt = push(&a.lent, s)
}

// waits moves s from lent to parked.
func (a *absent) waits(s *strand) {
	a.endExtra(s)
	s.checks = nil
	take(&a.lent, s)
	s.parked.Store(true)
	s.absentAt = push(&a.parked, s)
}

// remove takes s out of the list that holds it.
func (a *absent) remove(s *strand) {
	a.endExtra(s)
	if s.parked.Load() {
		take(&a.parked, s)
	} else {
		take(&a.lent, s)
	}
	g := s.g.Load()
	if x := a.byG[g]; x != s {
		for x.sameG != s {
			x = x.sameG
		}
		x.sameG = s.sameG
	} else if s.sameG != nil {
		a.byG[g] = s.sameG
	} else if delete(a.byG, g); len(a.byG) == 0 {
		a.byG = nil // a large map never shrinks
	}
	s.parked.Store(false)
	s.sameG = nil
	a.n.Add(-1)
	s.lent.Store(0)
}

// endExtra says that s is no extra task, if it was one. Called under the loop's lock.
func (a *absent) endExtra(s *strand) {
	if s.lent.isExtra() {
		s.lent.Store(lentSlot)
		a.extras--
	}
}

// push appends s and returns its index.
func push(list *[]*strand, s *strand) int32 {
	*list = append(*list, s)
	return int32(len(*list) - 1)
}

// take removes s and moves the last strand into its place. An empty list releases its memory.
func take(list *[]*strand, s *strand) {
	l, last := *list, len(*list)-1
	l[s.absentAt] = l[last]
	l[s.absentAt].absentAt = s.absentAt
	l[last] = nil
	if *list = l[:last]; last == 0 {
		*list = nil
	}
}
