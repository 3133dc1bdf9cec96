//go:build !linux

package main

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// crowd is a number of connections, each of which sends its next request as soon as it has the
// previous response.
type crowd struct{ members []*httpClient }

// newCrowd opens n connections.
func newCrowd(address, path string, n int) (*crowd, error) {
	members, err := connect(address, path, n)
	return &crowd{members}, err
}

func (c *crowd) close() error {
	hangUp(c.members)
	return nil
}

// ask returns the number of responses until the end, including outstanding ones.
func (c *crowd) ask(ctx context.Context, end time.Time) (int64, error) {
	var all sync.WaitGroup
	var answers atomic.Int64
	errs := make([]error, len(c.members))
	for i, m := range c.members {
		all.Go(func() {
			n, err := m.ask(ctx, end)
			answers.Add(n)
			errs[i] = err
		})
	}
	all.Wait()
	return answers.Load(), errors.Join(errs...)
}

// ask returns the number of responses until the end.
func (c *httpClient) ask(ctx context.Context, end time.Time) (n int64, err error) {
	c.conn.SetDeadline(end.Add(patience))
	for ; n%16 != 0 || ctx.Err() == nil && time.Now().Before(end); n++ {
		if err := c.once(); err != nil {
			return n, err
		}
	}
	return n, ctx.Err()
}
