package safepoint

import "sync/atomic"

//lint:ignore U1000 reached by go:linkname
var pulledLink = Pulled

var pulled atomic.Pointer[pullings]

// pullings tells the runtime about one iter.Pull.
type pullings = func(ask func() bool) (drive func(bool), begin func() (end func()))

// Pulled tells the runtime about one iter.Pull: an iterator that runs on a coroutine, for the
// goroutine that waits for its next element. Code from cocoon build calls it.
//
// The runtime calls ask on the coroutine, at a safe point of the iterator. ask makes the waiting
// goroutine pass a safe point of its own. It returns true when that goroutine waits again, or false
// if the iterator was stopped instead, and its code must be unwound.
//
// The caller calls drive(true) before each switch to the coroutine, and drive(false) after it. On
// the coroutine, it first calls begin, and defers end directly. end recovers the panic that unwinds
// a stopped iterator. Without a runtime these functions do nothing.
func Pulled(ask func() bool) (drive func(bool), begin func() (end func())) {
	if tell := pulled.Load(); tell != nil {
		return (*tell)(ask)
	}
	return func(bool) {}, func() func() { return func() {} }
}

// AttachPulled installs the implementation of Pulled, for the life of the process. A second call
// panics, as does a nil function.
func AttachPulled(tell func(ask func() bool) (drive func(bool), begin func() (end func()))) {
	if tell == nil {
		panic("safepoint: AttachPulled of a nil function; want a function that notes coroutines")
	}
	if !pulled.CompareAndSwap(nil, &tell) {
		panic("safepoint: AttachPulled called twice; the process has one way to note coroutines")
	}
}
