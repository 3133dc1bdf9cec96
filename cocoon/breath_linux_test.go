package cocoon

import (
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// ownSlice returns the calling thread's time slice as the kernel tells it.
func ownSlice(t *testing.T) time.Duration {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil {
		t.Error(err)
		return 0
	}
	return time.Duration(attr.Runtime)
}
