package guest

import (
	"flag"
	"os"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// TestMain lets the long form have as many collections as a program: they meet guests that run.
func TestMain(m *testing.M) {
	flag.Parse()
	if longtest.Off() {
		os.Exit(longtest.SmallHeap(m))
	}
	os.Exit(m.Run())
}
