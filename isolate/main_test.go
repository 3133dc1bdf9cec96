package isolate

import (
	"os"
	"testing"

	"github.com/cocoon-go/cocoon/internal/longtest"
)

func TestMain(m *testing.M) { os.Exit(longtest.SmallHeap(m)) }
