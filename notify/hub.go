package notify

import (
	"maps"
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// maxEvents is the number of events that a mask can name.
const maxEvents = 16

// Hub knows the listeners of each event. An event is one bit of a mask. Reading is one atomic load,
// because events are raised on the hot path of every task. Subscriptions end rarely, so that copies
// everything; a new one copies nothing, because there may be thousands.
//
// The zero Hub has no listeners and is ready for use. All methods are safe for concurrent use.
type Hub[T comparable] struct {
	mu            sync.Mutex
	subscriptions []Subscription[T] // in order of arrival; guarded by mu
	subscribed    map[T]bool        // their listeners; guarded by mu

	// lists are the listeners by the number of the event's bit; guarded by mu. A new subscription
	// is appended in place, because readers see only what listeners has of these arrays.
	lists     [maxEvents][]T
	listeners atomic.Pointer[[maxEvents][]T] // immutable
}

// Subscription is a listener, with the mask of its events.
type Subscription[T comparable] struct {
	Listener T
	Events   uint16
}

// Replace ends the subscriptions of the listeners in out, and puts the subscriptions in in, in
// order, in the place of the first of them; if no listener in out has a subscription, after all
// existing ones. No reader sees half of a change. A listener in both gets a new mask and a new
// position. Replace panics on an empty mask, and on a listener that would be subscribed twice. A
// caller that has called Listeners before may still notify the listeners in out.
func (h *Hub[T]) Replace(out []T, in []Subscription[T]) {
	h.mu.Lock()
	defer h.mu.Unlock()
	leaving, entering := make(map[T]bool, len(out)), make(map[T]bool, len(in))
	for _, v := range out {
		if h.subscribed[v] {
			leaving[v] = true
		}
	}
	for _, s := range in {
		switch {
		case s.Events == 0:
			panic("notify: Replace: a subscription to no event; want at least one bit set")
		case entering[s.Listener], h.subscribed[s.Listener] && !leaving[s.Listener]:
			panic("notify: Replace: a listener would be subscribed twice; want it in out as well")
		}
		entering[s.Listener] = true
	}
	for v := range leaving {
		delete(h.subscribed, v)
	}
	if h.subscribed == nil {
		h.subscribed = map[T]bool{}
	}
	maps.Copy(h.subscribed, entering)
	if len(leaving) > 0 {
		h.exchange(leaving, in)
	} else {
		h.subscribe(in)
	}
	all := new([maxEvents][]T)
	for e := range all {
		all[e] = slices.Clip(h.lists[e]) // a reader's append must not write into the shared array
	}
	h.listeners.Store(all)
}

// subscribe appends subscriptions. mu must be held.
func (h *Hub[T]) subscribe(in []Subscription[T]) {
	h.subscriptions = append(h.subscriptions, in...)
	for _, s := range in {
		for events := s.Events; events != 0; events &= events - 1 {
			e := bits.TrailingZeros16(events)
			h.lists[e] = append(h.lists[e], s.Listener)
		}
	}
}

// exchange puts the subscriptions of in in the place of the first one that leaves, and makes new
// lists of the events that they are about. mu must be held.
func (h *Hub[T]) exchange(leaving map[T]bool, in []Subscription[T]) {
	leaves := func(s Subscription[T]) bool { return leaving[s.Listener] }
	if len(leaving) == 1 { // faster, for thousands
		for only := range leaving {
			leaves = func(s Subscription[T]) bool { return s.Listener == only }
		}
	}
	place, about := -1, uint16(0)
	for i, s := range h.subscriptions {
		if leaves(s) {
			about |= s.Events
			if place < 0 {
				place = i
			}
		}
	}
	for _, s := range in {
		about |= s.Events
	}
	h.subscriptions = slices.Insert(slices.DeleteFunc(h.subscriptions, leaves), place, in...)
	for ; about != 0; about &= about - 1 {
		e := bits.TrailingZeros16(about)
		list := make([]T, 0, len(h.lists[e])+len(in))
		for _, s := range h.subscriptions {
			if s.Events>>e&1 != 0 {
				list = append(list, s.Listener)
			}
		}
		h.lists[e] = list
	}
}

// Listeners returns the listeners of the event, in order of subscription. The event must be a
// single bit; otherwise Listeners panics. The slice is shared: it must not be modified, and does
// not change when subscriptions do. The call takes no lock and allocates nothing; it takes about
// 1 ns (BenchmarkListeners).
func (h *Hub[T]) Listeners(event uint16) []T {
	if bits.OnesCount16(event) != 1 {
		panic("notify: Listeners of a set of events; want exactly one bit set")
	}
	all := h.listeners.Load()
	if all == nil {
		return nil
	}
	return all[bits.TrailingZeros16(event)]
}
