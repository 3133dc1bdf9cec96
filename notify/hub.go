package notify

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// maxEvents is the number of events that a mask can name.
const maxEvents = 16

// Hub knows the listeners of each event. An event is one bit of a mask. Reading is one atomic load,
// because events are raised on the hot path of every task. Subscriptions change rarely, so a change
// copies everything.
//
// The zero Hub has no listeners and is ready for use. All methods are safe for concurrent use.
type Hub[T comparable] struct {
	mu            sync.Mutex
	subscriptions []Subscription[T]              // in order of arrival; guarded by mu
	listeners     atomic.Pointer[[maxEvents][]T] // by number of the event's bit; immutable
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
	leaving := make(map[T]bool, len(out))
	for _, v := range out {
		leaving[v] = true
	}
	there, place := map[T]bool{}, -1
	var all []Subscription[T]
	for _, s := range h.subscriptions {
		if !leaving[s.Listener] {
			all, there[s.Listener] = append(all, s), true
		} else if place < 0 {
			place = len(all)
		}
	}
	for _, s := range in {
		switch {
		case s.Events == 0:
			panic("notify: Replace: a subscription to no event; want at least one bit set")
		case there[s.Listener]:
			panic("notify: Replace: a listener would be subscribed twice; want it in out as well")
		}
		there[s.Listener] = true
	}
	if place < 0 {
		place = len(all)
	}
	all = slices.Insert(all, place, in...)
	h.subscriptions = all
	h.publish()
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

// publish replaces the lists that Listeners reads. mu must be held.
func (h *Hub[T]) publish() {
	all := new([maxEvents][]T)
	for _, s := range h.subscriptions {
		for events := s.Events; events != 0; events &= events - 1 {
			e := bits.TrailingZeros16(events)
			all[e] = append(all[e], s.Listener)
		}
	}
	for e := range all {
		all[e] = slices.Clip(all[e]) // a reader's append must not write into the shared array
	}
	h.listeners.Store(all)
}
