package meter

import (
	"fmt"
	"math"
)

// Host is the module name of the import that a metered module needs: the function Safepoint,
// without parameters and results.
const Host = "cocoon"

// Names of what a metered module has in addition to its own.
const (
	Safepoint   = "safepoint"    // the imported function, of module Host
	WordExport  = "cocoon:word"  // epoch: an i32 global. The host sets it to ask for a safe point
	FuelExport  = "cocoon:fuel"  // fuel: an i64 global. What is left; negative when it is used up
	LeftExport  = "cocoon:left"  // countdown: an i64 global, as the fuel
	StackExport = "cocoon:sp"    // the module's own shadow stack pointer, an i32 global, if known
	SectionName = "cocoon:meter" // the custom section that marks a metered module
)

// Version is the version of the form in which modules are metered. The custom section carries it.
const Version = 1

// A Mechanism is how a metered guest learns that it must call the host.
type Mechanism int

const (
	// Epoch looks at a word that the host sets. It costs least, and the host chooses the time.
	Epoch Mechanism = iota
	// Fuel counts instructions by the table of Cost, and calls the host when none is left. The same
	// program with the same fuel stops at the same instruction on every machine.
	Fuel
	// Countdown counts as Fuel does, but coarsely: it charges only where it looks, the most that may
	// run until it looks again. So the guest calls the host after a bounded amount of work by itself,
	// at about the cost of Epoch.
	Countdown
)

// String returns "epoch", "fuel" or "countdown".
func (m Mechanism) String() string {
	switch m {
	case Epoch:
		return "epoch"
	case Fuel:
		return "fuel"
	case Countdown:
		return "countdown"
	}
	return fmt.Sprintf("Mechanism(%d)", int(m))
}

// export returns the name of the global by which host and guest agree.
func (m Mechanism) export() string {
	switch m {
	case Fuel:
		return FuelExport
	case Countdown:
		return LeftExport
	}
	return WordExport
}

// Config says how Rewrite meters a module. The zero value chooses epochs.
type Config struct {
	Mechanism Mechanism
}

// Rewrite returns the module with safe points. It does not change its argument, and it may be called
// from several goroutines. An error is an *Error: it says what is wrong with the module, and where.
// Rewrite refuses a module that is metered already.
//
// Rewrite does not validate code: the engine that compiles the result does, and refuses it exactly
// if it refuses the original. Rewrite needs time in proportion to the module's size, and at most ten
// times the module's size in memory.
func Rewrite(wasm []byte, c Config) ([]byte, error) {
	if c.Mechanism < Epoch || c.Mechanism > Countdown {
		return nil, fmt.Errorf("meter: unknown mechanism %v: use Epoch, Fuel or Countdown", c.Mechanism)
	}
	if uint64(len(wasm)) > math.MaxUint32 {
		return nil, fmt.Errorf("meter: the module has %d bytes: a module has at most 4 GiB", len(wasm))
	}
	m, err := parse(wasm)
	if err != nil {
		return nil, err
	}
	m.mechanism = c.Mechanism
	w := &writer{module: m}
	return w.write()
}
