// Package fromc calls Go functions from C, for tests: what is around such a callback must not be
// unwound.
package fromc
