// Package safepoint holds the poll: the one place where running code meets the wish to preempt it.
//
// Instrumented code links to this package alone, so it imports nothing but sync/atomic. The
// protocol:
//
//  1. The runtime installs its slow path once, with Attach, before the first Raise.
//  2. Whoever wants a task preempted calls Raise, and then puts the request where the slow path
//     will find it (on the task). Raise comes first: the task may poll for another's sake, find the
//     request at once, and lower the word for it; the other way round it would lower what was not
//     yet raised. A poll in between finds the word up and no request, and goes on; the next one
//     finds it.
//  3. A poll loads the word. Zero, the usual case, costs the load and a branch. Otherwise it calls
//     the slow path, which finds the task of the current goroutine and its request; there may be
//     none, for the word belongs to the process.
//  4. Whoever takes the request off the task, to answer or to withdraw it, calls Lower, once for
//     its Raise. The word counts the unanswered requests, so an answer never hides another one.
//
// While the word is up every poll of the process takes the slow path; so it is raised briefly, and
// lowered early.
package safepoint

import "sync/atomic"

// lines separates the word from its neighbours: two cache lines, because processors fetch them in
// pairs and arm64 has some of 128 bytes. Every core polls the word, so a neighbour's writes would
// slow down all of them.
const lines = 128

var word struct {
	_        [lines]byte
	requests atomic.Uint32
	_        [lines]byte
}

var slowPath atomic.Pointer[func()]

// Poll is a safe point: it returns at once, unless requests are out; then it calls the slow path,
// which may suspend the calling goroutine or panic to unwind it. Any goroutine may call it, at any
// place where both are acceptable.
//
// Poll is inlined: a load and a branch, about half a nanosecond alone and nothing between other
// work (BenchmarkPoll).
func Poll() {
	if word.requests.Load() != 0 {
		Answer()
	}
}

// Answer is what Poll does while the word is up. Code from cocoon build looks at the word itself
// instead of calling Poll, for in very large functions the compiler inlines nothing of Poll's size.
// It stays out of line, to keep them small.
//
//go:noinline
func Answer() {
	if slow := slowPath.Load(); slow != nil {
		(*slow)()
	}
}

// Attach installs the slow path, for the life of the process. It is called on the goroutine that
// polls, by many at a time, and also when the request is another goroutine's. A second Attach
// panics, as does a nil function: functions cannot be compared, and two owners of one word would
// each answer the other's requests.
func Attach(slow func()) {
	if slow == nil {
		panic("safepoint: Attach of a nil function; want the slow path of the poll")
	}
	if !slowPath.CompareAndSwap(nil, &slow) {
		panic("safepoint: Attach called twice; the process has one slow path, and the runtime that attached first owns it")
	}
}

// Raise announces one more unanswered request. It is safe for concurrent use.
func Raise() { word.requests.Add(1) }

// Lower takes back one Raise. It is safe for concurrent use. With none to take back it panics and
// changes nothing: some request was answered twice.
func Lower() {
	for {
		n := word.requests.Load()
		if n == 0 {
			panic("safepoint: Lower without Raise; each request is lowered once, by who takes it off the task")
		}
		if word.requests.CompareAndSwap(n, n-1) {
			return
		}
	}
}

// Raised reports whether requests are out, that is, whether polls take the slow path now.
func Raised() bool { return word.requests.Load() != 0 }
