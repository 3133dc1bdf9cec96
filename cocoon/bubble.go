package cocoon

import (
	"sync"
	"time"

	"github.com/cocoon-go/cocoon/notify"
)

// Tasks may run in a bubble of testing/synctest, on a runtime made inside or outside of it. Go ends
// the process when a channel of a bubble is used from outside. The timer's thread is always
// outside, because otherwise the bubble's time would stand still. So the parts of the runtime, and
// the channels on which tasks wait, are made outside. Objects of the application, such as contexts,
// are used only by goroutines inside the same bubble (strand.bubbled).

// wakes are channels made outside of any bubble, for strands made inside. Leaving the bubble once
// costs a garbage collection, so several are made in advance.
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

// firstStep is how long, in its time, a goroutine in a bubble waits until it looks again for what
// will come from outside the bubble.
const firstStep = time.Millisecond

// longer returns how long it waits the next time: in all it waits a 64th longer than necessary, and
// a day of the bubble's time takes 2000 looks.
func longer(step time.Duration) time.Duration { return min(step+step/64, time.Minute) }
