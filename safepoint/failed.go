package safepoint

import "sync/atomic"

// throws is the number of throws that unwind a task. While it is not zero, the deferred literals of
// rewritten code that read an error variable call Failed.
var throws atomic.Uint32

// failedLink is the name under which rewritten code calls Failed.
//
//lint:ignore U1000 reached by go:linkname
var failedLink = Failed

var failed atomic.Pointer[func() error]

// Unwinds changes the number of throws that unwind a task.
func Unwinds(by int) { throws.Add(uint32(by)) }

// Failed returns the error of the throw for which the calling function is deferred and runs, or nil
// if a function that returns normally has deferred it. Only the deferred function itself may call
// Failed.
func Failed() error {
	if tell := failed.Load(); tell != nil {
		return (*tell)()
	}
	return nil
}

// AttachFailed installs the implementation of Failed, for the life of the process. A second call
// panics.
func AttachFailed(tell func() error) {
	if tell == nil {
		panic("safepoint: AttachFailed of a nil function; want a function that returns the error of a throw")
	}
	if !failed.CompareAndSwap(nil, &tell) {
		panic("safepoint: AttachFailed called twice; the process has one way to find throws")
	}
}
