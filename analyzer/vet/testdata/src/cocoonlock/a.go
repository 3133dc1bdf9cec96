package cocoonlock

import (
	"context"
	"sync"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/safepoint"
)

type store struct {
	mu   sync.Mutex
	rw   sync.RWMutex
	cond *sync.Cond

	group sync.WaitGroup
	rows  []int
	next  *store
}

var global sync.Mutex

func deferred(ctx context.Context, s *store) (sum int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, row := range s.rows {
		cocoon.SafePoint(ctx) // want `cocoon.SafePoint between s.mu.Lock and s.mu.Unlock: a task that is suspended here keeps the lock`
		sum += row
	}
	return sum
}

func straight(ctx context.Context, s *store) {
	cocoon.SafePoint(ctx)
	s.mu.Lock()
	safepoint.Poll()  // want `safepoint.Poll between s.mu.Lock and s.mu.Unlock`
	cocoon.Yield(ctx) // want `cocoon.Yield between`
	s.mu.Unlock()
	cocoon.SafePoint(ctx)
}

func readers(ctx context.Context, s *store) error {
	s.rw.RLock()
	err := cocoon.Block(ctx, func() error { return nil }) // want `cocoon.Block between s.rw.RLock and s.rw.RUnlock`
	s.rw.RUnlock()
	s.rw.Lock()
	if err := cocoon.Block(ctx, func() error { return nil }); err != nil { // want `cocoon.Block between s.rw.Lock and s.rw.Unlock`
		s.rw.Unlock()
		return err
	}
	s.rw.Unlock()
	return err
}

func leavingEarly(ctx context.Context, s *store, a, b bool) {
	s.mu.Lock()
	if a {
		s.mu.Unlock()
		return
	}
	if b {
		s.mu.Unlock()
		panic("b")
	} else {
		cocoon.SafePoint(ctx) // want `s.mu.Lock`
	}
	switch {
	case a:
		cocoon.SafePoint(ctx) // want `s.mu.Lock`
	}
	select {
	default:
		cocoon.SafePoint(ctx) // want `s.mu.Lock`
	}
	cocoon.SafePoint(ctx) // want `s.mu.Lock`
	s.mu.Unlock()
}

func variables(ctx context.Context, locked struct{ sync.Mutex }, list []int) {
	locked.Lock()
	cocoon.SafePoint(ctx) // want `cocoon.SafePoint between locked.Lock and locked.Unlock`
	locked.Unlock()
	global.Lock()
	func() { cocoon.SafePoint(ctx) }() // a function of its own
	list[0]++
	cocoon.SafePoint(ctx) // want `global.Lock`
	global.Unlock()
	var mu sync.Mutex
	p := &mu
	p.Lock()
	defer func() {
		p.Unlock()
	}()
	cocoon.SafePoint(ctx) // want `p.Lock`
}

func two(ctx context.Context, s *store) {
	s.mu.Lock()
	s.rw.RLock()
	cocoon.SafePoint(ctx) // want `s.mu.Lock`
	s.mu.Unlock()
	cocoon.SafePoint(ctx) // want `s.rw.RLock`
	s.rw.RUnlock()
}

func inTask(ctx context.Context, rt *cocoon.Runtime, s *store) error {
	return rt.Run(ctx, "sum", func(ctx context.Context) error {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.rows[0] = 1
		cocoon.SafePoint(ctx) // want `s.mu.Lock`
		return nil
	})
}

func handOver(ctx context.Context, s *store) {
	s.mu.Lock()
	for s.next != nil {
		next := s.next
		next.mu.Lock()
		s.mu.Unlock()
		s = next
		cocoon.SafePoint(ctx) // next.mu is held, but unlocked under another name
	}
	s.mu.Unlock()
}

// Nothing below holds a lock for certain.

func between(ctx context.Context, s *store, free bool) {
	s.mu.Lock()
	s.mu.Unlock()
	cocoon.SafePoint(ctx)
	s.mu.Lock()
	for i := range s.rows {
		s.mu.Unlock()
		cocoon.SafePoint(ctx)
		s.mu.Lock()
		s.rows[i]++
	}
	s.mu.Unlock()
	s.mu.Lock()
	if free {
		s.mu.Unlock()
	}
	cocoon.SafePoint(ctx)
	if !free {
		s.mu.Unlock()
	}
}

func loops(ctx context.Context, s *store, free bool) {
	s.mu.Lock()
	for range 3 {
		if free {
			s.mu.Unlock()
			break
		}
	}
	cocoon.SafePoint(ctx)
	if !free {
		s.mu.Unlock()
	}
	if s.mu.TryLock() {
		cocoon.SafePoint(ctx)
		s.mu.Unlock()
	}
}

func switches(ctx context.Context, s *store, n int) {
	s.mu.Lock()
	switch n {
	case 1:
		if len(s.rows) == 0 {
			s.mu.Unlock()
			break
		}
		s.rows = nil
	}
	cocoon.SafePoint(ctx)
	s.mu.Unlock()
}

func (s *store) unlock() { s.mu.Unlock() }
func (s *store) lock()   { s.mu.Lock() }

func helpers(ctx context.Context, s *store) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unlock()
	cocoon.SafePoint(ctx)
	s.lock()
}

func closures(ctx context.Context, s *store) {
	unlocked := func(f func()) {
		s.mu.Unlock()
		defer s.mu.Lock()
		f()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	unlocked(func() { cocoon.SafePoint(ctx) })
	cocoon.SafePoint(ctx) // certain to us, but closures may run at any time
}

func left(ctx context.Context, s *store) { // to be unlocked by the caller, or was it?
	s.mu.Lock()
	cocoon.SafePoint(ctx)
}

func waiting(ctx context.Context, s *store) {
	s.mu.Lock()
	for len(s.rows) == 0 {
		cocoon.Block(ctx, func() error { s.cond.Wait(); return nil })
	}
	s.mu.Unlock()
	s.rw.RLock()
	cocoon.Block(ctx, func() error { s.rw.RUnlock(); defer s.rw.RLock(); return nil })
	s.rw.RUnlock()
}

func jump(ctx context.Context, s *store) {
	s.mu.Lock()
again:
	cocoon.SafePoint(ctx)
	if len(s.rows) > 0 {
		goto again
	}
	s.mu.Unlock()
}

func others(ctx context.Context, a, b *store) {
	a.mu.Lock()
	a = b
	cocoon.SafePoint(ctx)
	a.mu.Unlock()
	go func() { b.mu.Lock(); b.mu.Unlock() }()
	defer cocoon.SafePoint(ctx)
	b.rw.Lock()
	defer func() { b.rw.Lock(); b.rw.Unlock() }()
	cocoon.SafePoint(ctx)
}

func elements(ctx context.Context, mus []sync.Mutex, i int) {
	mus[i].Lock()
	cocoon.SafePoint(ctx) // which one i is, is not followed
	mus[i].Unlock()
}

type cache[K comparable, V any] struct {
	mu sync.Mutex
	m  map[K]V
}

func (c *cache[K, V]) release() { c.mu.Unlock() }

func (c *cache[K, V]) all(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range c.m {
		cocoon.SafePoint(ctx) // want `c.mu.Lock`
	}
}

func (c *cache[K, V]) some(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.release()
	cocoon.SafePoint(ctx)
	c.mu.Lock()
}

func keptBeyondBlock(ctx context.Context, s *store) {
	cocoon.Block(ctx, func() error { s.mu.Lock(); return nil }) // want `s.mu.Lock inside cocoon.Block: the task holds the lock while it waits for its slot`
	defer s.mu.Unlock()
	cocoon.BlockCall(ctx, func() error {
		s.rw.RLock() // want `s.rw.RLock inside cocoon.BlockCall`
		return nil
	})
	s.rw.RUnlock()
	cocoon.Wait(ctx, s.mu.Lock) // want `s.mu.Lock inside cocoon.Wait`
	s.mu.Unlock()
}

func waits(ctx context.Context, s *store) {
	s.mu.Lock()
	cocoon.Wait(ctx, s.group.Wait) // want `cocoon.Wait between s.mu.Lock and s.mu.Unlock`
	s.mu.Unlock()
	cocoon.Wait(ctx, s.group.Wait)
}

func lockedWithinBlock(ctx context.Context, s *store) error {
	return cocoon.Block(ctx, func() error {
		global.Lock()
		defer global.Unlock()
		return nil
	})
}
