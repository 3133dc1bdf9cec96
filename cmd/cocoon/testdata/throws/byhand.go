package main

import (
	"errors"
	"fmt"
	"time"
)

// client takes connections of a pool, and gives them back without defer.
type client struct {
	idle chan *link
	work pool
	took time.Duration // by the last throw, with its limit
	late int           // throws that did not wait any longer, on a busy machine
}

// link is a connection.
type link struct {
	of    *client
	ready bool
}

const links = 4

func newClient() *client {
	c := &client{idle: make(chan *link, links)}
	for range links {
		c.idle <- &link{of: c}
	}
	return c
}

func (c *client) get() *link {
	l := <-c.idle
	return l
}

func (l *link) Close() error {
	l.of.work.compute()
	l.of.idle <- l
	return nil
}

// check fails now and then.
func (l *link) check() error {
	if l.of.work.compute(); l.ready {
		l.ready = false
		return errors.New("it is stale")
	}
	l.ready = true
	return nil
}

func (c *client) all() error {
	n := len(c.idle)
	if n == links-1 && c.took > 25*time.Millisecond && c.late < 10 {
		c.late++
		c.idle <- &link{of: c}
		return nil
	}
	if n != links {
		return fmt.Errorf("%d of %d connections came back", n, links)
	}
	return nil
}

// releasing uses one connection after the other.
func releasing() engine {
	c := newClient()
	return engine{
		"release without defer",
		func() error {
			begin := time.Now()
			defer func() { c.took = time.Since(begin) }()
			for {
				c.straight()
				if l := c.checked(); l != nil {
					if err := l.Close(); err != nil {
						return err
					}
				}
			}
		},
		c.all,
	}
}

func (c *client) straight() {
	l := c.get()
	c.work.compute()
	c.work.compute()
	l.Close()
}

// checked gives the connection to its caller, unless it is stale.
func (c *client) checked() *link {
	l := c.get()
	if err := l.check(); err != nil {
		l.Close()
		return nil
	}
	return l
}

// keeping never releases its connection: a throw does not wait for that.
func keeping() engine {
	var c *client
	return engine{
		"release without defer that never comes",
		func() error {
			c = newClient()
			l := c.get()
			spin()
			return l.Close()
		},
		func() error {
			if n := len(c.idle); n != links-1 {
				return fmt.Errorf("%d of %d connections came back", n, links)
			}
			return nil
		},
	}
}
