package guest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cocoon-go/cocoon/cocoon"
)

// prefix begins each error of the package, once.
const prefix = "guest: "

// about returns the beginning of an error about a guest, or about a function "guest.function".
func about(what string) string {
	if what == defaultName || strings.HasPrefix(what, defaultName+".") {
		return what
	}
	return prefix + what
}

// located is an error with its subject.
type located struct {
	about string
	err   error
}

// locate adds the subject to err, unless the text of err begins with it.
func locate(what string, err error) error {
	if rest, ok := strings.CutPrefix(err.Error(), about(what)); ok && rest != "" && strings.Contains(": .", rest[:1]) {
		return err
	}
	return &located{about(what), err}
}

// Error implements error.
func (l *located) Error() string { return l.about + ": " + inner(l.err) }

// Unwrap returns the error without its place.
func (l *located) Unwrap() error { return l.err }

// inner returns the text of an error without the prefix, for use within another error.
func inner(err error) string { return strings.TrimPrefix(err.Error(), prefix) }

// ErrShutdown is the Cause of a ClosedError after Shutdown.
var ErrShutdown = errors.New("the instance was shut down")

// errModuleClosed is the Cause of Instantiate's ClosedError. A server that replaces a plugin may
// instantiate the old one while it is being closed, and needs to know.
var errModuleClosed = errors.New("Instantiate after Close of its module")

// ClosedError is the error of a call that was refused, or ended, because its instance is closed.
// Instantiate returns it if the module is closed.
type ClosedError struct {
	Guest string // Config.Name
	Cause error  // ErrShutdown, the throw that closed the instance, the guest's exit, or Module.Close
}

// Error implements error.
func (e *ClosedError) Error() string {
	return fmt.Sprintf("%s: the instance is closed: %s", about(e.Guest), inner(e.Cause))
}

// Unwrap returns the cause.
func (e *ClosedError) Unwrap() error { return e.Cause }

// evictedError is the error of a task that was cancelled because its instance is closed. errors.Is
// and errors.As find why it is closed first, and then the throw.
type evictedError struct {
	*ClosedError
	thrown error
}

// Unwrap returns both errors.
func (e *evictedError) Unwrap() []error { return []error{e.ClosedError, e.thrown} }

// final returns the error of the task of a call, which has ended with err. "Cancelled" would say
// neither that the instance is closed nor why: for example that a call nested in this one was
// stopped by a limit.
func (a *activation) final(err error) error {
	if !errors.Is(err, cocoon.ErrCancelled) {
		return err
	}
	a.in.lock()
	defer a.in.unlock()
	if !a.evicted {
		return err
	}
	return &evictedError{a.in.closed(), err}
}

// FuelError is the error of a call that has used up its budget. It closes the instance like a
// throw.
type FuelError struct {
	Function string
	Used     int64 // fuel, at the safe point at which the call was stopped
	Budget   int64
}

// Error implements error.
func (e *FuelError) Error() string {
	return fmt.Sprintf("%s has used %d units of fuel, and its budget is %d", about(e.Function), e.Used, e.Budget)
}
