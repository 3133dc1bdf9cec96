package safepoint

import "sync/atomic"

// Code that cocoon build inserts does not import this package: the standard library cannot import
// it, and other modules would have to require it. Instead the code names these variables, and word,
// by go:linkname. They are variables because a function without a body needs an assembly file in
// its package.
var (
	//lint:ignore U1000 reached by go:linkname
	answerLink = Answer
	//lint:ignore U1000 reached by go:linkname
	enterLink = Enter
)

var sections atomic.Pointer[func(name string) func(*error)]

// Enter opens a section of the calling goroutine's task, and returns the function that closes it.
// That function must be deferred directly, because a throw into the section ends in it: given a
// pointer to the caller's error result, it stores the throw there and recovers the panic; given
// nil, it lets the panic continue. Code from cocoon build contains this line in the functions that
// policies name:
//
//	defer safepoint.Enter("github.com/dlclark/regexp2.(*Regexp).FindStringMatch")(&err)
//
// Without a runtime, Enter does nothing.
func Enter(name string) (leave func(err *error)) {
	if enter := sections.Load(); enter != nil {
		return (*enter)(name)
	}
	return func(*error) {}
}

// AttachSections installs the implementation of Enter, for the life of the process. A second call
// panics, as does a nil function.
func AttachSections(enter func(name string) (leave func(err *error))) {
	if enter == nil {
		panic("safepoint: AttachSections of a nil function; want what opens a section")
	}
	if !sections.CompareAndSwap(nil, &enter) {
		panic("safepoint: AttachSections called twice; the process has one way to open sections")
	}
}
