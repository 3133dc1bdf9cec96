// Package states has the states that policies read and write: variables, tables of keyed states,
// token buckets, and the rates and averages of states. An evaluation is one step for them, whole or
// not at all: see [Use].
//
// Evaluations read and write a state under their loop's lock, and under the lock of the [Steps]
// where several loops share it. The caller of functions that declare or describe states holds the
// lock of registrations.
package states
