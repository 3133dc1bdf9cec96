package guest

import (
	"errors"
	"fmt"
)

// ErrShutdown is the Cause of a ClosedError after Shutdown.
var ErrShutdown = errors.New("the instance was shut down")

// ClosedError is the error of a call that was refused, or ended, because its instance is closed.
type ClosedError struct {
	Guest string // Config.Name
	Cause error  // ErrShutdown, the throw that closed the instance, or the guest's exit
}

// Error implements error.
func (e *ClosedError) Error() string {
	return fmt.Sprintf("guest: %s: the instance is closed: %v", e.Guest, e.Cause)
}

// Unwrap returns the cause.
func (e *ClosedError) Unwrap() error { return e.Cause }

// FuelError is the error of a call that has used up its budget. It closes the instance like a
// throw.
type FuelError struct {
	Function string
	Used     int64 // fuel, at the safe point at which the call was stopped
	Budget   int64
}

// Error implements error.
func (e *FuelError) Error() string {
	return fmt.Sprintf("guest: %s has used %d units of fuel, and its budget is %d", e.Function, e.Used, e.Budget)
}
