package guest

import (
	"math/rand/v2"
	"slices"
)

// turns decides which thread of an instance runs: one at a time, because they share its memory and
// globals. It is pure: the instance's lock serialises its calls, and the caller wakes the threads.
//
//  1. A thread asks for the turn. The thread gets the turn at once if no thread has it and none
//     waits.
//  2. The holder gives the turn back when it ends. If the instance's threads take turns (shares),
//     the holder also does so when it is suspended, and when its slice is over. The turn then goes
//     to the thread that has waited longest, or to one that the seed selects.
//  3. While the instance is paused, the turn goes only to threads that unwind. With a seed, a pause
//     that stops a thread in its turn changes nothing: the thread continues first.
type turns[T comparable] struct {
	holder  T
	waiting []T
	urgent  int // how many of them, at the front, unwind
	stopped int // how many, behind the urgent ones, a pause has stopped in their turn
	paused  bool
	rng     *rand.Rand // nil: first come, first served
}

// free reports whether ask would give the turn at once.
func (u *turns[T]) free() bool {
	var none T
	return u.holder == none && len(u.waiting) == 0 && !u.paused
}

// ask requests the turn for t and reports whether t has it now.
func (u *turns[T]) ask(t T) bool {
	if u.free() {
		u.holder = t
		return true
	}
	u.waiting = append(u.waiting, t)
	return false
}

// insist is ask for a thread that unwinds: it goes before all other threads, even while paused.
func (u *turns[T]) insist(t T) bool {
	var none T
	if u.holder == none {
		u.holder = t
		return true
	}
	u.waiting = slices.Insert(u.waiting, u.urgent, t)
	u.urgent++
	return false
}

// leave gives back the turn, and returns the thread that has it now.
func (u *turns[T]) leave() (next T) {
	var none T
	u.holder = none
	return u.grant()
}

// grant gives the turn, if it is free, to the next thread, which it returns.
func (u *turns[T]) grant() (next T) {
	var none T
	if u.holder != none || len(u.waiting) == 0 || u.paused && u.urgent == 0 {
		return none
	}
	i := 0
	switch {
	case u.urgent > 0:
		u.urgent--
	case u.stopped > 0:
		u.stopped--
	case u.rng != nil && len(u.waiting) > 1: // a single thread draws no number, paused or not
		i = u.rng.IntN(len(u.waiting))
	}
	u.holder = u.waiting[i]
	u.waiting = slices.Delete(u.waiting, i, i+1)
	return u.holder
}

// pass puts t, which has the turn, behind the waiting threads, and returns the thread that has the
// turn now: t, if no other waits.
func (u *turns[T]) pass(t T) (next T) {
	if len(u.waiting) == 0 && !u.paused {
		return t
	}
	u.waiting = append(u.waiting, t)
	return u.leave()
}

// retire puts t, which has the turn, in front of the threads that do not unwind: its turn goes on
// after the pause. It returns the thread that has the turn now.
func (u *turns[T]) retire(t T) (next T) {
	u.waiting = slices.Insert(u.waiting, u.urgent, t)
	u.stopped++
	return u.leave()
}

// withdraw takes t, which does not unwind, out of the queue.
func (u *turns[T]) withdraw(t T) {
	if i := slices.Index(u.waiting, t); i >= 0 {
		u.waiting = slices.Delete(u.waiting, i, i+1)
		if i < u.urgent+u.stopped {
			u.stopped--
		}
	}
}
