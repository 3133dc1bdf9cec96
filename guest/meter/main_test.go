package meter_test

import (
	"os"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

// A collection waits until code without safe points returns, and code that overflows its stack
// allocates much: this is another reason for few collections.
func TestMain(m *testing.M) { os.Exit(longtest.SmallHeap(m)) }
