package safepoint

import "sync/atomic"

// What cocoon build inserts does not import this package: the standard library cannot, and others
// would need it among their requirements. It names these variables, and word, by go:linkname. They
// are variables because a function without a body needs an assembly file beside it.
var (
	//lint:ignore U1000 reached by go:linkname
	answerLink = Answer
	//lint:ignore U1000 reached by go:linkname
	enterLink = Enter
)

var sections atomic.Pointer[func(name string) func(*error)]

// Enter opens a section of the calling goroutine's task, and returns the function that closes it.
// That is to be deferred directly, for a throw that was made for the section ends in it: with the
// place of the function's error, the error is put there and the panic recovered; with nil it goes
// on. Code from cocoon build has it in the functions that policies name:
//
//	defer safepoint.Enter("github.com/dlclark/regexp2.(*Regexp).FindStringMatch")(&err)
//
// Without a runtime it does nothing.
func Enter(name string) (leave func(err *error)) {
	if enter := sections.Load(); enter != nil {
		return (*enter)(name)
	}
	return func(*error) {}
}

// AttachSections installs what Enter does, for the life of the process. A second one panics, as
// does a nil function.
func AttachSections(enter func(name string) (leave func(err *error))) {
	if enter == nil {
		panic("safepoint: AttachSections of a nil function; want what opens a section")
	}
	if !sections.CompareAndSwap(nil, &enter) {
		panic("safepoint: AttachSections called twice; the process has one way to open sections")
	}
}
