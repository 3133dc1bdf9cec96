package cocoon

import (
	"slices"

	"github.com/cocoon-go/cocoon/internal/sched"
	"github.com/cocoon-go/cocoon/internal/sketch"
	"github.com/cocoon-go/cocoon/stubs"
)

func (x series) same(y series) bool { return x.stub == y.stub && x.window == y.window }

func (x series) ofClass() bool { return x.stub == stubs.ClassWait || x.stub == stubs.ClassService }

// any reports whether a figure is wanted.
func (w *wants) any() bool { return w.costs || w.eachTask() }

// counts reports whether the strand's task t is counted in its class.
func (w *wants) counts(s *strand, t *Task) bool {
	for _, b := range w.class {
		if b.matchesKind(s.core.Kind) && b.matchesName(t.class) {
			return true
		}
	}
	return false
}

// want adds the figure that b reads, and tells the read where to find it.
func (w *wants) want(b *bound, r *read) {
	switch {
	case stubs.ClassTasks <= r.stub && r.stub <= stubs.ClassService:
		if !slices.Contains(w.class, b) {
			w.class = append(w.class, b)
		}
	case r.stub == stubs.TenantRate || r.stub == stubs.LoopRate:
		w.rates = true
	case r.stub == stubs.QueueCost:
		w.costs = true
	}
	if r.window == 0 {
		return
	}
	x := series{stub: r.stub, window: r.window}
	if r.series = slices.IndexFunc(w.series, x.same); r.series < 0 {
		r.series = len(w.series)
		w.series = append(w.series, x)
	}
	q := &w.series[r.series].quantiles
	if r.place = slices.Index(*q, r.quantile); r.place < 0 {
		r.place = len(*q)
		*q = append(*q, r.quantile)
	}
}

// measures reports whether the policy reads a figure.
func (b *bound) measures() bool {
	var w wants
	return slices.ContainsFunc(b.reads, func(r read) bool {
		w.want(b, &r)
		return w.any()
	})
}

// remeter makes the loop measure the figures that its policies read now. Figures that were already
// measured continue. Called under the loop's lock, after gather.
func (l *Loop) remeter() {
	was, is := l.meter, &meter{}
	for e := stubs.Event(1); e&stubs.AnyEvent != 0; e <<= 1 {
		for _, b := range l.hub.Listeners(uint16(e)) {
			for i := 0; i < len(b.reads) && !b.silent(); i++ {
				is.want(b, &b.reads[i])
			}
		}
	}
	if l.meter = nil; is.any() {
		l.meter = is
		is.inherit(was)
	}
	if !is.demandsOther(was) {
		return // each task is already counted correctly
	}
	for s := l.live; s != nil; s = s.next {
		s.unseated = l.meter != nil && s.core.State() == sched.Queued
		l.countIn(s, s.task)
	}
}

// demandsOther reports whether existing tasks must be counted again when this meter replaces
// another one, which may be nil.
func (m *meter) demandsOther(was *meter) bool {
	if was == nil {
		return m.any()
	}
	return !m.any() || m.costs != was.costs || !slices.Equal(m.class, was.class)
}

// inherit takes over the measurements of another meter, which may be nil.
func (m *meter) inherit(was *meter) {
	if was == nil {
		was = &meter{}
	}
	m.arrived, m.crowded, m.calls = was.arrived, was.crowded, was.calls
	m.loop = m.sketches(was, was.loop)
	for i, x := range m.series {
		if m.loop[i] == nil && !x.ofClass() {
			m.loop[i] = x.sketch()
		}
	}
	if len(m.class) == 0 {
		return
	}
	if m.classes, m.rest = was.classes, was.rest; m.classes == nil {
		m.classes, m.rest = map[stubs.NameID]*classAccount{}, &classAccount{}
	}
	m.rest.sketches = m.sketches(was, m.rest.sketches)
	for _, a := range m.classes {
		a.sketches = m.sketches(was, a.sketches)
	}
}

// sketches returns the other meter's sketches, ordered by the series of this one.
func (m *meter) sketches(was *meter, have []*sketch.Sketch) []*sketch.Sketch {
	if len(m.series) == 0 {
		return nil
	}
	all := make([]*sketch.Sketch, len(m.series))
	for i, x := range m.series {
		k := slices.IndexFunc(was.series, x.same)
		if k < 0 || k >= len(have) || have[k] == nil {
			continue
		}
		if all[i] = have[k]; !slices.Equal(x.quantiles, was.series[k].quantiles) {
			all[i].Answer(x.quantiles)
		}
	}
	return all
}

// countIn starts or stops counting the strand's task t in its class. Called under the loop's lock.
func (l *Loop) countIn(s *strand, t *Task) {
	m := l.meter
	if m == nil || !m.counts(s, t) {
		s.class = nil
		s.core.CountIn(nil)
	} else {
		s.class = m.accountOf(t.class.id)
		s.core.CountIn(&s.class.Tally)
	}
	// The sum already includes the expected running time of a waiting task.
	if st := s.core.State(); m != nil && m.costs && st != sched.Queued && st != sched.Ready {
		s.core.Expects = t.cost()
	}
}

// arrives counts the arrival of a task in the rates; m may be nil. Called under the loop's lock.
func (m *meter) arrives(s *strand, now int64) {
	if m == nil || !m.rates {
		return
	}
	m.arrived.add(now)
	if s.tenant != nil {
		s.tenant.arrived.add(now)
	}
}

// entered records that a task has arrived and was not refused: it has a slot, or waits for one. m
// may be nil. Called under the loop's lock.
func (m *meter) entered(s *strand, granted bool, now int64) {
	if m == nil {
		return
	}
	if s.unseated = !granted; granted {
		m.waited(s, 0, now)
	}
}

// waited records a task's time in the queue. Called under the loop's lock.
func (m *meter) waited(s *strand, ns, now int64) {
	if s.class != nil {
		s.class.waited.add(ns)
	}
	m.add(stubs.QueueWait, stubs.ClassWait, s.class, ns, now)
}

// ended records the running time of a task that has ended. Called under the loop's lock.
func (m *meter) ended(s *strand, ns, now int64) {
	if s.class != nil {
		s.class.running.add(ns)
	}
	m.add(stubs.LoopService, stubs.ClassService, s.class, ns, now)
}

// add adds a duration to the series of two stubs, one of the loop and one of a class.
func (m *meter) add(ofLoop, ofClass stubs.ID, a *classAccount, ns, now int64) {
	for i := range m.series {
		switch m.series[i].stub {
		case ofLoop:
			m.loop[i].Add(now, ns)
		case ofClass:
			if a != nil {
				a.sketch(m, i).Add(now, ns)
			}
		}
	}
}

// rate returns the number of arrivals per second. Called under the loop's lock.
func (m *meter) rate(now int64) float64 {
	if m == nil {
		return 0
	}
	return m.arrived.value(now)
}

// quantile returns the quantile of the loop that r reads. Called under the loop's lock.
func (m *meter) quantile(r *read, now int64) int64 {
	if m == nil || r.series >= len(m.loop) {
		return 0
	}
	return m.loop[r.series].Quantile(now, r.place)
}
