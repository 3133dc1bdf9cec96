package instrument

import (
	"os"
	"runtime/debug"
	"testing"
)

// TestMain collects garbage less often: the heap of these tests is small, and the garbage collector
// took a fifth of their processor time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
