package instrument

import "testing"

const flagging = `package p

import "sync/atomic"

type cache struct {
	busy  atomic.Bool
	state atomic.Int32
	users atomic.Int64
	old   int32
	n     uint32
	a     atomic.Pointer[cache]
}

var (
	l    atomic.Bool
	work func() bool
)

func (c *cache) refresh() {
	if !c.busy.CompareAndSwap(false, true) { // held
		work()
		return // held: it ends where the held code begins
	}
	work()              // held
	c.busy.Store(false) // held
	work()
}

func (c *cache) swapped() {
	if c.busy.Swap(true) { // held
		work()
		return // held: it ends where the held code begins
	}
	if work() { // held
		c.busy.CompareAndSwap(true, false) // held
		return // held: it ends where the held code begins
	}
	c.busy.Swap(false) // held
	work()
}

func (c *cache) function() {
	if atomic.SwapInt32(&c.old, 1) == 0 { // held
		work()                        // held
		atomic.StoreInt32(&c.old, 0) // held
	}
	work()
}

func (c *cache) notZero() {
	if atomic.SwapInt32(&c.old, 1) != 0 { // held
		work()
		return // held: it ends where the held code begins
	}
	work()                       // held
	atomic.StoreInt32(&c.old, 0) // held
}

func (c *cache) once() {
	if c.state.CompareAndSwap(0, 1) { // held
		work()           // held
		c.state.Store(2) // held
	}
	work()
}

func (c *cache) counted() {
	work()
	c.users.Add(1)  // held
	work()          // held
	c.users.Add(-1) // held
	work()
}

func (c *cache) unsigned() {
	work()
	atomic.AddUint32(&c.n, 1)          // held
	work()                             // held
	atomic.AddUint32(&c.n, ^uint32(0)) // held
	work()
}

func (c *cache) spinning() {
	for !c.busy.CompareAndSwap(false, true) { // held
		work() // held: as above
	}
	work()              // held
	c.busy.Store(false) // held
}

func (c *cache) deferred() {
	if !c.busy.CompareAndSwap(false, true) {
		return
	}
	defer c.busy.Store(false)
	work()
}

func (c *cache) countedDeferred() {
	c.users.Add(1)
	defer c.users.Add(-1)
	work()
}

func (c *cache) countedByALiteral() {
	c.users.Add(1)
	defer func() { c.users.Add(-1) }()
	work()
}

func (c *cache) begin() bool { return c.busy.CompareAndSwap(false, true) }

func (c *cache) Count() { c.users.Add(1) }

func (c *cache) end() { c.busy.Store(false) }

func (c *cache) byOthers() {
	if !c.begin() { // held
		work()
		return // held: it ends where the held code begins
	}
	work()  // held
	c.end() // held
	work()
}

func (c *cache) byOthersDeferred() {
	if !c.begin() {
		return
	}
	defer c.end()
	work()
}

func lockBit(n *uint32) {
	for {
		v := atomic.LoadUint32(n)
		if v&1 == 0 && atomic.CompareAndSwapUint32(n, v, v|1) {
			return
		}
		work()
	}
}

func unlockBit(n *uint32) { atomic.StoreUint32(n, atomic.LoadUint32(n)&^1) }

func (c *cache) bit() {
	work()
	lockBit(&c.n)   // held
	work()          // held
	unlockBit(&c.n) // held
	work()
}

func endAll() { l.Store(false) }

func all() {
	if l.CompareAndSwap(false, true) { // held
		work()   // held
		endAll() // held
	}
}

func (c *cache) statistics() {
	c.users.Add(1)
	work()
	c.state.Add(1)
	work()
}

func (c *cache) ever() {
	if !c.busy.CompareAndSwap(false, true) {
		return
	}
	work()
}

func (c *cache) retry() {
	for {
		old := c.state.Load()
		if c.state.CompareAndSwap(old, old+1) {
			return
		}
	}
}

func (c *cache) pointer(next *cache) {
	old := c.a.Load()
	c.a.CompareAndSwap(old, next)
	work()
	c.a.Store(nil)
}

func (c *cache) started() {
	if !c.busy.CompareAndSwap(false, true) {
		return
	}
	go func() {
		defer c.busy.Store(false)
		work()
	}()
	work()
}

func (c *cache) serve(next func() *cache) {
	for {
		c.users.Add(1) // held
		go next().gone(c) // held
	}
}

func (c *cache) gone(of *cache) {
	work()
	of.users.Add(-1)
}
`

// TestFlags checks that a flag or a counter of package sync/atomic is held like a lock while the
// function, or functions it calls, will reset it, and only then.
func TestFlags(t *testing.T) {
	r := decidedText(t, flagging)
	for _, c := range r.codes {
		if g, ok := r.handedOver(c); ok {
			t.Errorf("a gap: %v", g)
		}
	}
	checkHeld(t, r, flagging)
}
