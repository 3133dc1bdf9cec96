// Package decisions keeps the last entries of a stream for readers that may come late and lag. It
// is the memory of cocoon's stream of decisions, without locks, clocks and goroutines.
//
// Entries have numbers, and belong to one of several sorts. Each sort has a ring of its own, so
// that many entries of one sort do not push out the few of another. A reader gets the entries of
// all sorts in the order of their numbers. When a ring is full, each new entry takes the place of
// its oldest. Readers own their cursors, and the log knows nothing about its readers: a reader that
// stops reading costs nothing.
package decisions

import "sync/atomic"

// Log holds the last entries of each sort. One goroutine at a time may call Add. Any number of
// goroutines may read, each with a cursor of its own, even while an entry is added.
type Log[T any] struct {
	rings []ring[T]
	last  atomic.Uint64 // the number of the newest entry
}

// ring holds the last entries of one sort. An entry is immutable, so a reader never sees half of
// one.
type ring[T any] struct {
	entries []atomic.Pointer[entry[T]]
	added   atomic.Uint64 // how many entries it has had
}

type entry[T any] struct {
	number uint64
	place  uint64 // in its ring: how many entries the ring had before
	value  T
}

// New returns a log that keeps the last entries of each of several sorts.
func New[T any](sorts, keep int) *Log[T] {
	l := &Log[T]{rings: make([]ring[T], sorts)}
	for i := range l.rings {
		l.rings[i].entries = make([]atomic.Pointer[entry[T]], keep)
	}
	return l
}

// Last returns the number of the newest entry, or 0 if there was none.
func (l *Log[T]) Last() uint64 { return l.last.Load() }

// Add adds an entry with the next number, which it returns. It makes one allocation.
func (l *Log[T]) Add(sort int, value T) uint64 {
	r, number := &l.rings[sort], l.last.Load()+1
	e := &entry[T]{number, r.added.Load(), value}
	r.entries[e.place%uint64(len(r.entries))].Store(e)
	r.added.Store(e.place + 1)
	l.last.Store(number) // at last: readers look for nothing newer
	return number
}

// Skip uses the next number for an entry that is not kept. Readers count it as lost. Only the
// goroutine that may call Add may call Skip.
func (l *Log[T]) Skip() { l.last.Store(l.last.Load() + 1) }

// Cursor is the position of one reader. One goroutine at a time may use it.
type Cursor[T any] struct {
	log    *Log[T]
	places []uint64 // of the next entry in each ring
	after  uint64   // up to this number the reader got all entries, lost them, or did not want them
	lost   uint64
}

// From returns a cursor for the entries after the entry with the number. A number that no entry has
// yet stands for the last one.
func (l *Log[T]) From(after uint64) *Cursor[T] {
	return &Cursor[T]{log: l, places: make([]uint64, len(l.rings)), after: min(after, l.Last())}
}

// Lost returns how many entries between the start and the last call of Next were overwritten before
// the reader came to them, or not kept at all.
func (c *Cursor[T]) Lost() uint64 { return c.lost }

// Next returns the oldest entry that the reader has not read, and its number. ok is false if there
// is none at present.
func (c *Cursor[T]) Next() (value T, number uint64, ok bool) {
	last := c.log.Last() // before the rings: newer entries are for the next call
	var first *entry[T]
	of := 0
	for i := range c.log.rings {
		if e := c.head(i, last); e != nil && (first == nil || e.number < first.number) {
			first, of = e, i
		}
	}
	// All entries up to last were in their rings, so the ones passed over were overwritten.
	if first == nil {
		c.lost, c.after = c.lost+last-c.after, last
		return value, 0, false
	}
	c.lost += first.number - c.after - 1
	c.after, c.places[of] = first.number, first.place+1
	return first.value, first.number, true
}

// head returns the ring's oldest entry for the reader, up to the number last, or nil.
func (c *Cursor[T]) head(i int, last uint64) *entry[T] {
	r := &c.log.rings[i]
	for {
		added, room := r.added.Load(), uint64(len(r.entries))
		if added > room {
			c.places[i] = max(c.places[i], added-room)
		}
		place := c.places[i]
		if place == added {
			return nil
		}
		e := r.entries[place%room].Load()
		switch {
		case e.place != place: // overwritten just now
		case e.number > last:
			return nil
		case e.number > c.after:
			return e
		default: // the reader began after it
			c.places[i]++
		}
	}
}
