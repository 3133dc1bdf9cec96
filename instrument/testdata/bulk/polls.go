//go:build !fresh

package main

import "github.com/cocoon-go/cocoon/safepoint"

var polls, throwing int

// attach counts polls, and lets one of them throw.
func attach() {
	safepoint.Attach(func() {
		polls++
		if throwing--; throwing == 0 {
			panic("thrown")
		}
	})
	safepoint.Raise()
}

// throwAfter lets the n-th poll from here throw; 0 is none.
func throwAfter(n int) { throwing = n }

// polled returns how often f polls.
func polled(f func()) int {
	before := polls
	f()
	return polls - before
}
