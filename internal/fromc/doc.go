// Package fromc calls Go functions from C, for tests: a panic must not unwind the C frames around
// such a callback.
package fromc
