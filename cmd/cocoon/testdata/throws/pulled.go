package main

import (
	"errors"
	"iter"
	"slices"
)

// pulled is an iterator that does not come to its third element. A throw unwinds the function that
// waits for it, and the iterator when that function stops it.
func pulled() engine {
	begun, ended := 0, 0
	endless := func(yield func(int) bool) {
		begun++
		defer func() { ended++ }()
		for i := 0; ; i++ {
			if i < 2 && !yield(i) {
				return
			}
		}
	}
	return engine{
		"iter.Pull",
		func() error {
			next, stop := iter.Pull(endless)
			defer stop()
			for {
				if _, ok := next(); !ok {
					return errors.New("the iterator has ended")
				}
			}
		},
		func() error { return errors.Join(equal(ended, begun), pullsAll()) },
	}
}

// pullsAll pulls all elements, and stops at one.
func pullsAll() error {
	next, stop := iter.Pull(slices.Values([]int{3, 4, 5}))
	for want := 3; want <= 5; want++ {
		if got, ok := next(); got != want || !ok {
			return errors.New("the elements are not those of the slice")
		}
	}
	_, ok := next()
	stop()
	early, stopEarly := iter.Pull(slices.Values([]int{3, 4, 5}))
	_, some := early()
	stopEarly()
	_, more := early()
	return errors.Join(equal(ok, false), equal(some, true), equal(more, false))
}

// pulledPairs is an iterator that pulls from another, which does not come to an element.
func pulledPairs() engine {
	begun, ended := 0, 0
	inner := func(yield func(int) bool) {
		begun++
		defer func() { ended++ }()
		for n := 0; n >= 0; n = (n + 1) % 1000 {
		}
	}
	outer := func(yield func(int, int) bool) {
		begun++
		defer func() { ended++ }()
		next, stop := iter.Pull(iter.Seq[int](inner))
		defer stop()
		v, _ := next()
		yield(v, v)
	}
	return engine{
		"iter.Pull2",
		func() error {
			next, stop := iter.Pull2[int, int](outer)
			defer stop()
			next()
			return nil
		},
		func() error { return equal(ended, begun) },
	}
}
