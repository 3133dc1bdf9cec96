package main

import (
	"slices"
	"sync"
	"time"
)

// actions are the times at which the server reacted to its load: it refused a request, stopped one
// or raised an alarm. Times are wall clock times, which the generator shares. It is safe for
// concurrent use.
type actions struct {
	mu sync.Mutex
	at []int64 // Unix time in ns
}

// maxActions limits how many actions are kept; the first ones matter.
const maxActions = 1 << 16

func (a *actions) note() {
	now := time.Now().UnixNano()
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.at) < maxActions {
		a.at = append(a.at, now)
	}
}

// list returns the times so far.
func (a *actions) list() []int64 {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.Clone(a.at)
}

// firstAfter returns how long after the given time the first action came; false if none did.
func firstAfter(actions []int64, moment int64) (time.Duration, bool) {
	found := false
	first := int64(0)
	for _, at := range actions {
		if at >= moment && (!found || at < first) {
			found, first = true, at
		}
	}
	return time.Duration(first - moment), found
}
