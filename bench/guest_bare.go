package main

import (
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// bareStops is stops without a guest, a policy or a task: a goroutine computes and looks at a word
// every 1 to 2 µs, another sets the word and waits in a channel until the first has seen it. The
// times are what the machine and the Go scheduler need for a request.
func bareStops(n int) (figures, error) {
	const turns = 1000 // between looks
	var asked, over atomic.Bool
	suspended, resume, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for x := uint64(1); !over.Load(); {
			for range turns {
				x = x*6364136223846793005 + 1
			}
			if asked.Load() {
				asked.Store(x == 0) // false; so the compiler keeps the loop
				suspended <- struct{}{}
				<-resume
			}
		}
	}()
	var all []time.Duration
	for range n {
		time.Sleep(time.Duration(rand.IntN(int(2 * time.Millisecond))))
		at := time.Now()
		asked.Store(true)
		<-suspended
		all = append(all, time.Since(at))
		resume <- struct{}{}
	}
	over.Store(true)
	<-ended
	late, err := lateness(all)
	return late[:2], err
}
