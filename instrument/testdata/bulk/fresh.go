//go:build fresh

package main

import _ "github.com/cocoon-go/cocoon/cocoon" // which offers memory that is not cleared, and has the poll's slow path

func attach() {}

func throwAfter(int) {}

func polled(f func()) int {
	f()
	return 0
}
