package instrument

import "testing"

const passingLocks = `package p

import "sync"

type gate struct {
	mu   sync.Mutex
	sem  chan struct{}
	in   gateIn
	done chan struct{}
}

type gateIn struct{ n int }

var (
	all  sync.Mutex
	work func() error
)

func (g *gate) begin() {
	work()
	g.mu.Lock() // held
	work()      // held
}

func (g *gate) end() { // held
	work()        // held
	g.mu.Unlock() // held
	work()
}

func (g *gate) use() {
	work()
	g.begin() // held
	work()    // held
	g.end()   // held
	work()
}

func (g *gate) useDeferred() error {
	work()
	g.begin()     // held
	defer g.end() // held
	return work() // held
}

func (g *gate) take() error {
	select {
	case g.sem <- struct{}{}: // held
		work() // held
		return nil // held
	case <-g.done: // held: the control-flow graph has all communications in front of the cases
		return work() // held
	}
}

func (g *gate) give() { <-g.sem }

func (g *gate) taking() error {
	work()
	if err := g.take(); err != nil { // held
		return err // held
	}
	err := work() // held
	g.give()      // held
	work()
	return err
}

func (g *gate) takingDeferred() error {
	g.take()
	defer g.give()
	return work()
}

func (g *gate) handing() {
	g.take()
	go func() {
		work()
		g.give()
	}()
	work()
}

func (g *gate) acquired() func() {
	g.mu.Lock() // held
	work()      // held
	return func() { // held
		g.mu.Unlock() // held
	} // held
}

func (g *gate) releasing() {
	work()
	release := g.acquired() // held
	work()                  // held
	release()               // held
	work()
}

func (g *gate) leaving() {
	for {
		work()
		leave := g.acquired() // held
		work()                // held
		leave()               // held
		work()
	}
}

func (g *gate) enter() func() {
	g.mu.Lock() // held
	return func() { g.mu.Unlock() } // held
}

func (g *gate) entering() {
	work()
	leave := g.enter() // held
	leave()            // held
	work()
}

func (g *gate) inALiteral() func() {
	return func() {
		for {
			work()
			leave := g.acquired() // held
			work()                // held
			leave()               // held
		}
	}
}

func (g *gate) releasingDeferred() {
	work()
	release := g.acquired() // held
	defer release()         // held
	work()                  // held
}

func (g *gate) releasingAtOnce() {
	work()
	defer g.acquired()() // held
	work()               // held
}

func (g *gate) method() (func(), error) {
	g.mu.Lock() // held
	return g.mu.Unlock, work() // held
}

func (g *gate) byMethod() {
	release, err := g.method() // held
	if err != nil { // held
		return // held
	}
	work()    // held
	release() // held
	work()
}

func lockAll(of *gate) { // held
	all.Lock()     // held
	of.mu.Unlock() // held
}

func unlockAll() { // held
	all.Unlock() // held
}

func allLocked() {
	work()
	lockAll(nil) // held
	work()       // held
	unlockAll()  // held
	work()
}

func local() {
	var mu sync.Mutex
	mu.Lock() // held
	work()    // held
}

func callsLocal() {
	local()
	work()
}

func balanced(g *gate) {
	g.mu.Lock()   // held
	g.mu.Unlock() // held
}

func callsBalanced(g *gate) {
	balanced(g)
	work()
}
`

// TestLocksOfOtherFunctions checks that a lock acquired by one function and released by another is
// held in between, and only there.
func TestLocksOfOtherFunctions(t *testing.T) {
	r := decidedText(t, passingLocks)
	checkHeld(t, r, passingLocks)
}
