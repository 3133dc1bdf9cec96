package cocoon

import (
	"sync"
	"sync/atomic"

	"github.com/cocoon-go/cocoon/internal/goroutine"
	"github.com/cocoon-go/cocoon/safepoint"
)

func init() { safepoint.AttachPulled(newPulling) }

// pulling is the iterator of an iter.Pull in code from cocoon build. It runs on a coroutine, which
// is a goroutine of its own, while the task's goroutine waits. The task counts as running: see
// strand.status. At a safe point of the iterator the task's goroutine has to answer, because only
// there the whole stack is known, and a throw unwinds it. See askDriver.
type pulling struct {
	ask    func() bool
	driver atomic.Uintptr // the goroutine that waits for the next element, or 0
	own    atomic.Uintptr // the coroutine, or 0 before it begins
	busy   bool           // it looks at its stack, by functions that may be rewritten
}

// pullings are the coroutines that have begun, and not ended.
var pullings struct {
	n  atomic.Int64
	by sync.Map // goroutine -> *pulling
}

// newPulling implements safepoint.Pulled.
func newPulling(ask func() bool) (drive func(bool), begin func() (end func())) {
	p := &pulling{ask: ask}
	return p.drive, p.begin
}

func (p *pulling) drive(waits bool) {
	if g := goroutine.ID(); waits {
		p.driver.Store(g)
		driven(g).Store(p)
	} else {
		p.driver.Store(0)
		driven(g).CompareAndSwap(p, nil)
	}
}

func (p *pulling) begin() (end func()) {
	g := goroutine.ID()
	p.own.Store(g)
	pullings.by.Store(g, p)
	pullings.n.Add(1)
	return p.end
}

// end is deferred by the coroutine directly.
func (p *pulling) end() {
	pullings.n.Add(-1)
	pullings.by.Delete(p.own.Load())
	if r := recover(); r != nil && r != any(errStopped) {
		panic(r)
	}
}

// errStopped unwinds an iterator that was stopped at a safe point, because a throw left the loop
// that pulls from it.
var errStopped = &PreemptedError{Reason: "the iterator was stopped"}

// pullingOf returns the iterator that runs on the goroutine, or nil.
func pullingOf(g uintptr) *pulling {
	if pullings.n.Load() == 0 {
		return nil
	}
	if p, ok := pullings.by.Load(g); ok {
		return p.(*pulling)
	}
	return nil
}

// status returns the status of the task's goroutine, or of the coroutine that it waits for.
func (s *strand) status() goroutine.Status {
	g := s.g.Load()
	status := goroutine.StatusOf(g)
	for status == goroutine.Waiting {
		p := pulledBy(g)
		if p == nil {
			break
		}
		g = p.own.Load()
		status = goroutine.StatusOf(g)
	}
	return status
}

// pulledBy returns the iterator that the goroutine waits for, or nil.
func pulledBy(g uintptr) *pulling {
	if p := driven(g).Load(); p != nil && p.driver.Load() == g {
		return p
	}
	return nil
}

// drivens has the iterators that goroutines wait for, by a hash of the goroutine. If two hashes are
// the same, the later iterator displaces the earlier one. The earlier one's task then seems to wait
// until its next element.
var drivens [1 << 10]atomic.Pointer[pulling]

func driven(g uintptr) *atomic.Pointer[pulling] { return &drivens[g/512%uintptr(len(drivens))] }
