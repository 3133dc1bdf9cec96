// Package longtest marks tests that take long. go test runs their short form, or leaves them out,
// so that a first run on a new machine is mostly compiling. make long and .ci/run run the long form.
package longtest

import (
	"os"
	"runtime/debug"
	"testing"
)

// Variable is the environment variable that chooses the long form, with the value 1.
const Variable = "COCOON_LONG"

// Off reports whether tests run in their short form.
func Off() bool { return testing.Short() || os.Getenv(Variable) != "1" }

// Count returns how many of something a test needs: long in the long form, and short in the short
// form.
func Count(long, short int) int {
	if Off() {
		return short
	}
	return long
}

// Cases returns the cases of a test: all in the long form, and the first ones in the short form.
func Cases[T any](all []T, short int) []T { return all[:Count(len(all), short)] }

// Skip skips a test that has no short form.
func Skip(t testing.TB, why string) {
	t.Helper()
	if Off() {
		t.Skipf("%s; %s=1 runs it", why, Variable)
	}
}

// SmallHeap runs the tests of a package for its TestMain, and collects garbage less often, as do the
// programs that the tests start. The heap of these tests is small, and collections took a fifth of
// their processor time.
func SmallHeap(m *testing.M) (code int) {
	const percent = "GOGC"
	if os.Getenv(percent) == "" {
		debug.SetGCPercent(400)
		os.Setenv(percent, "400")
	}
	return m.Run()
}
