package cocoon

import (
	"sync"

	"github.com/cocoon-go/cocoon/notify"
)

// Tasks may run in a bubble of testing/synctest, on a runtime that was made there or elsewhere. Go
// ends the process when a channel of a bubble is used from outside, and the timer's thread is
// always outside, or that bubble's time would stand still. So what the runtime is made of, and the
// channels on which tasks wait, come from outside; and what belongs to the application, such as
// contexts, is left alone by all goroutines but those that are inside with it (strand.bubbled).

// wakes are channels that were made outside of any bubble, for strands that are made inside. One
// visit outside is a collection of garbage, so it makes some in advance.
var wakes struct {
	mu   sync.Mutex
	list []chan struct{}
}

// newWake makes the channel, of one element, on which a strand waits.
func newWake() chan struct{} {
	if !notify.Bubbled() {
		return make(chan struct{}, 1)
	}
	wakes.mu.Lock()
	defer wakes.mu.Unlock()
	if len(wakes.list) == 0 {
		notify.Outside(func() {
			for range 64 {
				wakes.list = append(wakes.list, make(chan struct{}, 1))
			}
		})
	}
	last := len(wakes.list) - 1
	wake := wakes.list[last]
	wakes.list = wakes.list[:last]
	return wake
}

// clock reads the clock for a task that comes, and notes whether it is in a bubble. Called by the
// task's goroutine.
func (s *strand) clock() (now int64) {
	now, s.bubbled = notify.Clock()
	return now
}
