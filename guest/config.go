package guest

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cocoon-go/cocoon/cocoon"
	"github.com/cocoon-go/cocoon/guest/meter"
	"github.com/tetratelabs/wazero"
)

// The mechanisms: see package meter.
const (
	Epoch = meter.Epoch
	Fuel  = meter.Fuel
)

// Config configures a Module. The zero Config is sound: epochs, a wazero runtime of its own with
// WASI, and the default loop of Cocoon's default runtime.
type Config struct {
	// Name is the first part of the names of tasks: a call of run in a guest named "plugin" is the
	// task "plugin.run". "" means "guest".
	Name string

	// Mechanism decides how the guest counts its work: Epoch is cheaper, and Fuel counts the same
	// on every machine.
	Mechanism meter.Mechanism

	// Runtime has the host modules that the guest imports. nil means a new wazero runtime with
	// WASI, which Module.Close closes. Compile adds the module "cocoon", and WASI if the guest
	// imports it and the runtime does not have it.
	Runtime wazero.Runtime

	// Loop runs the guest's tasks. nil means the loop of the task that makes the call, or the
	// default loop of cocoon.Default if there is no task.
	Loop *cocoon.Loop

	// Slice is how long a thread runs before it lets waiting tasks of its loop, and waiting threads
	// of its instance, go first. 0 means 10 ms, a negative value never. The minimum is 20 µs.
	// Thread.SetSlice changes it for one thread.
	Slice time.Duration

	// FuelSlice is the amount of fuel after which a thread lets other threads go first, and raises
	// FuelEvent for policies. 0 means never. Thread.SetFuelSlice changes it for one thread.
	FuelSlice int64

	// Budget is the amount of fuel after which a thread ends with a *FuelError. 0 means no bound.
	// Thread.AddFuel adds to it. Each Call gets the whole budget, and so do the start function and
	// _initialize, which run in Instantiate.
	Budget int64

	// Reusable names the functions that leave the instance in order when they are stopped at any
	// safe point. A throw that unwinds another function closes the instance.
	Reusable []string

	// Threads lets the calls of one instance interleave: at any safe point another call may
	// continue. The guest must be written for this. An allocator or a library that was compiled for
	// one thread does not expect a second call while the first is half-way, and breaks the memory.
	// Calls beyond the first get stacks of their own, made by memory.grow, so the guest's allocator
	// must not take all memory for its own, as Emscripten's does. Without Threads, a call of an
	// instance begins when the previous one has ended. Only a call from a host function of the
	// instance's own call begins at once.
	Threads bool

	// StackSize is the size, in bytes, of the stack in linear memory that a thread gets when
	// another thread of its instance uses the first stack. 0 means 256 KiB.
	StackSize uint32

	// Deterministic makes the interleaving of an instance's threads depend only on Seed and their
	// fuel: a thread lets another thread run only when its FuelSlice is used up and when it ends,
	// and Seed decides which thread is next. An instance is then paused until Resume, RunFor or
	// RunFuel. Deterministic implies Threads.
	Deterministic bool
	Seed          uint64
}

const (
	defaultSlice     = 10 * time.Millisecond
	leastSlice       = 20 * time.Microsecond
	defaultStackSize = 256 << 10
	wasmPage         = 64 << 10
	defaultName      = "guest"
)

// complete fills in the defaults, and rejects values that make no sense.
func (c Config) complete() (Config, error) {
	switch {
	case c.Mechanism != Epoch && c.Mechanism != Fuel:
		return c, fmt.Errorf("guest: Config.Mechanism is %d; want guest.Epoch or guest.Fuel", c.Mechanism)
	case c.Mechanism != Fuel && (c.FuelSlice != 0 || c.Budget != 0 || c.Deterministic):
		return c, fmt.Errorf("guest: Config.FuelSlice, Budget and Deterministic need fuel; set Config.Mechanism to guest.Fuel")
	case c.FuelSlice < 0 || c.Budget < 0:
		return c, fmt.Errorf("guest: Config.FuelSlice is %d and Config.Budget %d; want 1 or more, or 0 for no bound", c.FuelSlice, c.Budget)
	case c.Deterministic && c.FuelSlice == 0:
		return c, fmt.Errorf("guest: Config.Deterministic without Config.FuelSlice; threads would never take turns")
	case c.Slice > 0 && c.Slice < leastSlice:
		return c, fmt.Errorf("guest: Config.Slice is %v; want at least %v", c.Slice, leastSlice)
	case c.StackSize > math.MaxInt32:
		return c, fmt.Errorf("guest: Config.StackSize is %d bytes; want at most %d", c.StackSize, math.MaxInt32)
	}
	c.Slice = sliceOf(c.Slice)
	c.Threads = c.Threads || c.Deterministic
	if c.StackSize == 0 {
		c.StackSize = defaultStackSize
	}
	if c.Name == "" {
		c.Name = defaultName
	}
	c.Reusable = slices.Clone(c.Reusable)
	return c, nil
}

// sliceOf returns how long a slice of that setting is.
func sliceOf(d time.Duration) time.Duration {
	switch {
	case d == 0:
		return defaultSlice
	case d < 0:
		return math.MaxInt64
	}
	return d
}
