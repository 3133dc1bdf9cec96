package meter

import (
	"fmt"
	"math"
)

// Host is the module name of the imports that a metered module needs: the function Safepoint,
// without parameters and results, and the functions Wait, Notify and Back if the module uses them.
const Host = "cocoon"

// Names of the items that a metered module has in addition to its own.
const (
	Safepoint   = "safepoint"    // the imported function, of module Host
	Wait        = "wait"         // the imported function that waits in shared memory
	Notify      = "notify"       // the imported function that ends such waits
	Back        = "back"         // fuel: the imported function of the way back from recursions
	LeftExport  = "cocoon:left"  // epoch: an i64 global. What is left; negative when it is used up
	FuelExport  = "cocoon:fuel"  // fuel: the same
	StackExport = "cocoon:sp"    // the module's own shadow stack pointer, an i32 global, if known
	SectionName = "cocoon:meter" // the custom section that marks a metered module
)

// Version is the version of the form in which modules are metered. The custom section carries it.
const Version = 1

// A Mechanism is how a metered guest learns that it must call the host.
type Mechanism int

const (
	// Epoch counts coarsely: it charges only where it looks, about the most that may run until it
	// looks again. So the guest calls the host after a bounded amount of work. The host can adapt
	// the amount by the clock.
	//
	// There is no mechanism that looks at a word which the host sets: the Go runtime cannot stop
	// the code of a guest, so such a guest would hold up a garbage collection, and with it
	// every goroutine that might set the word.
	Epoch Mechanism = iota
	// Fuel counts instructions by the table of Cost, and calls the host when none is left. The same
	// program with the same fuel stops at the same instruction on every machine.
	Fuel
)

// String returns "epoch" or "fuel".
func (m Mechanism) String() string {
	switch m {
	case Epoch:
		return "epoch"
	case Fuel:
		return "fuel"
	}
	return fmt.Sprintf("Mechanism(%d)", int(m))
}

// export returns the name of the global by which host and guest agree.
func (m Mechanism) export() string {
	if m == Fuel {
		return FuelExport
	}
	return LeftExport
}

// Config says how Rewrite meters a module. The zero value chooses epochs.
type Config struct {
	Mechanism Mechanism
}

// Rewrite returns the module with safe points. It does not change its argument, and it may be
// called from several goroutines. An error is an *Error: it says what is wrong with the module, and
// where. Rewrite refuses a module that is metered already.
//
// Rewrite does not validate code: the engine that compiles the result does, and refuses it exactly
// if it refuses the original. Rewrite needs time in proportion to the module's size, and at most
// half a megabyte and ten times the module's size in memory. It refuses a module that would become
// more than four times as large (and 64 KiB), which only code made of nothing but loops or branches
// would.
func Rewrite(wasm []byte, c Config) ([]byte, error) {
	if c.Mechanism < Epoch || c.Mechanism > Fuel {
		return nil, fmt.Errorf("meter: unknown mechanism %v: use Epoch or Fuel", c.Mechanism)
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
