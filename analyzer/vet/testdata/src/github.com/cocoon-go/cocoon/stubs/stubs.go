// Package stubs has what the checkers know of the real one.
package stubs

type Event uint16

const (
	Tick Event = 1 << iota
	Enqueue
	Start
	Block
	Unblock
	Exit
	Leave
	Custom
)
