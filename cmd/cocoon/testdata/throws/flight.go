package main

import (
	"errors"
	"time"

	"github.com/cocoon-go/cocoon/cmd/cocoon/testdata/throws/singleflight"
)

// flight is work whose result another goroutine waits for, which has done nothing to be thrown out of.
func flight() engine {
	var group singleflight.Group
	joined := make(chan error, 100)
	return engine{
		"singleflight",
		func() error {
			for {
				err := group.Do("key", func() error {
					go func() { joined <- group.Do("key", func() error { return nil }) }()
					for begin := time.Now(); time.Since(begin) < 20*time.Millisecond; {
					}
					return nil
				})
				if err != nil {
					return err
				}
			}
		},
		func() error {
			select {
			case err := <-joined:
				return err
			case <-time.After(10 * time.Second):
				return errors.New("who waits for the result still does")
			}
		},
	}
}
