package guest

import (
	"math"
	"sync/atomic"
	"time"
)

// account is the time and fuel that a thread has used, and may use before it lets other threads go
// first. The thread's goroutine writes used and the ends of the slices; the settings may be changed
// at any time.
type account struct {
	thread *Thread // nil: a Call
	fixed  bool    // time ends no slice

	slice     atomic.Int64 // ns
	fuelSlice atomic.Int64 // 0: no end
	budget    atomic.Int64 // 0: no bound
	used      atomic.Int64 // fuel, as of the last time that the guest called the host

	until     int64 // when the slice ends, on the clock of notify.Now; 0: a new one begins
	nested    bool  // a call nested in another begins or ends
	fuelUntil int64 // the value of used at which the fuel slice ends
}

// FuelEvent is the event that a thread raises when its fuel slice is used up. Its value is the fuel
// that the thread has used so far. A policy on it can throw into the thread or switch it out; if
// the policy continues, the thread gets another slice.
const FuelEvent = "fuel"

// set applies the settings of the module to the new account of t, which is nil for a Call. It stores
// no zero, because an atomic store takes some nanoseconds.
func (acc *account) set(c *Config, t *Thread) {
	acc.thread, acc.fixed = t, c.Deterministic
	acc.slice.Store(int64(c.Slice))
	if c.FuelSlice != 0 {
		acc.fuelSlice.Store(c.FuelSlice)
	}
	if c.Budget != 0 {
		acc.budget.Store(c.Budget)
	}
	acc.fuelUntil = c.FuelSlice
}

// begin starts a time slice. A nested call continues the slice of its caller: otherwise a guest
// that often calls another instance would never let other tasks go first.
func (acc *account) begin(now int64) {
	if acc.nested && acc.until != 0 {
		return
	}
	if acc.until = math.MaxInt64; !acc.fixed {
		acc.until = add(now, acc.slice.Load())
	}
}

// over reports whether the time slice is over.
func (acc *account) over(now int64) bool { return now >= acc.until }

// fuelOver reports whether the fuel slice is used up. If so, it ends the time slice, too, and
// begins the next fuel slice.
func (acc *account) fuelOver() bool {
	n := acc.fuelSlice.Load()
	used := acc.used.Load()
	if n == 0 || used < acc.fuelUntil {
		return false
	}
	acc.fuelUntil, acc.until = add(used, n), 0
	return true
}

// add returns a + b, or the largest number if that is larger. Neither is negative.
func add(a, b int64) int64 { return a + min(b, math.MaxInt64-a) }

// exhausted reports whether the budget is used up.
func (acc *account) exhausted() bool {
	b := acc.budget.Load()
	return b != 0 && acc.used.Load() >= b
}

// cut returns how much fuel the guest gets now: n, unless a slice or the budget ends before. It is
// negative if a slice or the budget is used up. The guest must call the host from time to time, but
// where it does so changes nothing else: a slice and the budget end at the first check after their
// last unit. The guest calls the host when it has less than 0 left, so it gets one unit less.
func (acc *account) cut(n int64) int64 {
	used := acc.used.Load()
	if acc.fuelSlice.Load() != 0 {
		n = min(n, acc.fuelUntil-used-1)
	}
	if b := acc.budget.Load(); b != 0 {
		n = min(n, b-used-1)
	}
	return n
}

// pace is how far a guest runs until it calls the host: about period, by the clock. Calls of one
// instance continue at its pace, so that a guest that calls slow host functions is not late again
// in each call.
type pace struct {
	units int64
	since int64
}

const (
	period     = int64(25 * time.Microsecond)
	leastUnits = 1 << 10
	mostUnits  = 1 << 24
	firstUnits = 1 << 12 // a guest that first touches its memory pays a page fault for each page
)

// restart begins a stretch of running.
func (p *pace) restart(now int64) {
	if p.since = now; p.units == 0 {
		p.units = firstUnits
	}
}

// looksEarly records that the guest calls the host before it has used up its units, which says
// nothing about its speed.
func (p *pace) looksEarly() { p.since = 0 }

// passed adapts the pace to the time since the last call of the host. The pace doubles at most, and
// falls as far as needed: a guest that turns to slow work must not be late for long.
func (p *pace) passed(now int64) {
	took := max(now-p.since, 1)
	if p.since == 0 {
		took = period
	}
	p.since = now
	if took > 3*period/2 || took < period/2 {
		p.units = min(2*p.units, max(p.units*period/took, leastUnits), mostUnits)
	}
}
