package instrument

import "testing"

// handing is like keeping, with other ways to acquire and to release.
const handing = `package p

import (
	"context"
	"testing"
)

func closure() {
	c, _ := dial()
	work() // K
	release := func() { pool <- c }
	work() // K
	defer release()
	work()
}

func closureBefore() {
	var c *conn
	release := func() { c.Close() }
	work()
	c, _ = dial()
	work() // K
	defer release()
	work()
}

func methodValue() {
	c, _ := dial()
	work() // K
	release := c.Stop
	work() // K
	defer release()
	work()
}

func methodOfParameter(s *server) {
	work()
	s.giveBack()
	work() // K
	release := s.release
	work() // K
	defer release()
	work()
}

func closureBehind() {
	var release func()
	defer func() {
		if release != nil {
			release()
		}
	}()
	c, _ := dial()
	work() // K
	release = func() { c.Close() }
	work()
}

func closers() {
	var all []func()
	defer func() {
		for _, f := range all {
			f()
		}
	}()
	c, _ := dial()
	work() // K
	all = append(all, func() { c.Close() })
	work()
	d, _ := dial()
	work() // K
	all = append(all, d.Stop)
	work()
}

func severalResults() error {
	c, release, err := open()
	if err != nil {
		return err
	}
	work() // K
	defer release()
	work()
	return c.Close()
}

func namedResult() (c *conn, err error) {
	defer func() {
		if err != nil {
			c.Close()
		}
	}()
	x, err := dial()
	if err != nil {
		return nil, err
	}
	work() // K
	c = x
	work()
	return c, nil
}

func calledLiteral() {
	for range 2 {
		c, _ := dial()
		work() // K
		func() {
			work() // K
			defer c.Close()
			work()
		}()
		work()
	}
}

func argument() {
	for range 2 {
		c, _ := dial()
		work() // K
		func(c *conn) {
			work() // K
			defer c.Close()
			work()
		}(c)
		work()
	}
}

func handedOver() {
	c, _ := dial()
	work() // K
	go func() {
		defer c.Close()
		work()
	}()
	work()
}

func conditional(may bool) {
	c, _ := dial()
	work() // K
	if may {
		defer c.Close()
		work()
	}
	work()
}

func interfaceOf() {
	var x any
	c, _ := dial()
	work() // K
	x = c
	if s, ok := x.(interface{ Stop() }); ok {
		defer s.Stop()
		work()
	}
}

func cleanedUp(t *testing.T) {
	c, _ := dial()
	work() // K
	t.Cleanup(func() { c.Close() }) // K
	work()
}

func afterContext(ctx context.Context) {
	c, _ := dial()
	work() // K
	context.AfterFunc(ctx, c.Stop) // K
	work()
}

func onlyInterrupted(ctx context.Context) {
	c, _ := dial()
	stop := context.AfterFunc(ctx, c.Stop) // K
	work() // K
	defer c.Close()
	work() // K
	defer stop()
	work()
}

func ranged() {
	for c := range pool { // K
		work() // K
		func() {
			defer func() { pool <- c }()
			work()
		}()
		work()
	}
}

func selected(ctx context.Context) {
	select {
	case c := <-pool:
		work() // K
		defer func() { pool <- c }()
		work()
	case <-ctx.Done(): // K
		work()
	}
	work()
}

func removed(k int) {
	c := free[k]
	delete(free, k)
	work() // K
	c.Stop()
	work() // K
	defer func() { pool <- c }()
	work()
}

func popped(s *server) {
	c := s.list[0]
	s.list = s.list[1:]
	work() // K
	c.Stop()
	work() // K
	defer c.Close()
	work()
}

func unlinked(s *server) {
	c := s.idle
	s.idle = c.next
	work() // K
	c.Stop()
	work() // K
	defer c.Close()
	work()
}

func read(s *server) {
	c := s.idle
	work()
	c.Stop()
	work() // K
	defer c.Close()
	work()
}

func semaphore() {
	places <- struct{}{}
	work() // K
	println(len(places))
	work() // K
	defer func() { <-places }()
	work()
}

func tokens() {
	<-places
	work() // K
	defer func() { places <- struct{}{} }()
	work()
}

func givenToGoroutine() {
	places <- struct{}{}
	work() // K
	go func() {
		defer func() { <-places }()
		work()
	}()
	work()
}
`

// TestAcquiredForms checks closures, literals, loops, channels, collections and semaphores.
func TestAcquiredForms(t *testing.T) { checkKept(t, handing) }
