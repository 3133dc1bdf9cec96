// Package singleflight does work once for all who want its result at the same time. Like some that are in use, it does not
// expect the work to panic: who waits then waits for ever.
package singleflight

import "sync"

// Group is a set of results under way.
type Group struct {
	mu    sync.Mutex
	calls map[string]*call
}

type call struct {
	done chan struct{}
	err  error
}

// Do calls fn, or waits for the call under way.
func (g *Group) Do(key string, fn func() error) error {
	g.mu.Lock()
	if c := g.calls[key]; c != nil {
		g.mu.Unlock()
		<-c.done
		return c.err
	}
	c := &call{done: make(chan struct{})}
	if g.calls == nil {
		g.calls = map[string]*call{}
	}
	g.calls[key] = c
	g.mu.Unlock()

	c.err = fn()
	close(c.done)

	g.mu.Lock()
	delete(g.calls, key)
	g.mu.Unlock()
	return c.err
}
