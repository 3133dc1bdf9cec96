// Package safepoint holds the poll: the one place where running code checks for preemption
// requests.
//
// Instrumented code links only to this package, so it imports nothing but sync/atomic. Code that
// has a task's context calls cocoon.SafePoint, and other code calls [Poll].
//
// # The protocol
//
//  1. The runtime installs its slow path once, with [Attach], before the first [Raise].
//  2. To preempt a task, the requester puts the request where the slow path will find it (on the
//     task), and calls [Raise]. It does both under the lock under which the slow path takes the
//     request off. So a task that polls in between, because the word is raised for another request,
//     cannot lower the word for this request before it was raised. Raise may come later than the
//     request, if the task is not to be disturbed yet.
//  3. A poll loads the word. Zero, the usual case, costs the load and a branch. Otherwise the poll
//     calls the slow path, which finds the task of the current goroutine and its request. There may
//     be no request, because the word is shared by the process.
//  4. The goroutine that takes the request off the task, to answer or to withdraw it, calls
//     [Lower], once for each Raise. The word counts the unanswered requests, so answering one
//     request never hides another.
//
// While the word is raised, every poll of the process takes the slow path; so it is raised briefly,
// and lowered early.
package safepoint

import "sync/atomic"

// lines separates the word from its neighbours: two cache lines, because processors fetch them in
// pairs and some arm64 processors have lines of 128 bytes. Every core polls the word, so writes to
// a neighbour would slow down all of them.
const lines = 128

var word struct {
	_        [lines]byte
	requests atomic.Uint32
	_        [lines]byte
}

var slowPath atomic.Pointer[func()]

// Poll is a safe point. It returns at once if there are no requests. Otherwise it calls the slow
// path, which may suspend the calling goroutine or panic to unwind it. Any goroutine may call it,
// at any place where both are acceptable.
//
// Poll is inlined: it is a load and a branch, and costs about half a nanosecond alone and nothing
// between other work (BenchmarkPoll).
func Poll() {
	if word.requests.Load() != 0 {
		Answer()
	}
}

// Answer is the slow part of Poll, for a raised word. Code from cocoon build checks the word itself
// instead of calling Poll, because in very large functions the compiler does not inline functions
// of Poll's size. Answer is not inlined, to keep them small.
//
//go:noinline
func Answer() {
	if slow := slowPath.Load(); slow != nil {
		(*slow)()
	}
}

// Attach installs the slow path, for the life of the process. The slow path runs on the goroutine
// that polls, concurrently on many goroutines, and also when the request is for another goroutine.
// A second Attach panics, as does a nil function: functions cannot be compared, and two owners of
// one word would each answer the other's requests.
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

// Lower reverts one Raise. It is safe for concurrent use. Without a Raise to revert it panics and
// changes nothing, because a request was then answered twice.
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

// Raised reports whether there are unanswered requests, so that polls take the slow path.
func Raised() bool { return word.requests.Load() != 0 }
