package notify

import (
	"math/bits"
	"slices"
	"sync"
	"sync/atomic"
)

// maxEvents is the number of events that a mask can name.
const maxEvents = 16

// Hub knows who listens to which event. An event is one bit of a mask. Reading is one atomic load: events are raised on
// the hot path of every task, subscriptions change once in a while, so a change copies everything.
//
// The zero Hub has no listeners and is ready for use. All methods are safe for concurrent use.
type Hub[T comparable] struct {
	mu            sync.Mutex
	subscriptions []subscription[T]              // in order of arrival; guarded by mu
	listeners     atomic.Pointer[[maxEvents][]T] // by number of the event's bit; what it points to never changes
}

type subscription[T comparable] struct {
	events   uint16
	listener T
}

// Subscribe has v listen to the events of the mask, and to no others: for one that has subscribed before, the mask
// replaces the former one. It panics on an empty mask; Unsubscribe ends a subscription.
func (h *Hub[T]) Subscribe(events uint16, v T) {
	if events == 0 {
		panic("notify: Subscribe to no event; want at least one bit set, or Unsubscribe")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if i := h.find(v); i >= 0 {
		h.subscriptions[i].events = events
	} else {
		h.subscriptions = append(h.subscriptions, subscription[T]{events, v})
	}
	h.publish()
}

// Unsubscribe ends v's subscription, and reports whether there was one. Who has called Listeners before may still
// notify v.
func (h *Hub[T]) Unsubscribe(v T) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := h.find(v)
	if i < 0 {
		return false
	}
	h.subscriptions = slices.Delete(h.subscriptions, i, i+1)
	h.publish()
	return true
}

// Listeners returns who listens to the event, in order of subscription. The event must be a single bit; else it panics.
// The slice is shared: it must not be modified, and does not change when subscriptions do. The call takes no lock and
// allocates nothing, about 1 ns (BenchmarkListeners).
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

func (h *Hub[T]) find(v T) int {
	return slices.IndexFunc(h.subscriptions, func(s subscription[T]) bool { return s.listener == v })
}

// publish replaces what Listeners reads. It is called with mu held.
func (h *Hub[T]) publish() {
	all := new([maxEvents][]T)
	for _, s := range h.subscriptions {
		for events := s.events; events != 0; events &= events - 1 {
			e := bits.TrailingZeros16(events)
			all[e] = append(all[e], s.listener)
		}
	}
	for e := range all {
		all[e] = slices.Clip(all[e]) // an append by a reader must not write into the shared array
	}
	h.listeners.Store(all)
}
