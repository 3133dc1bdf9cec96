//go:build !unix

package cocoon

import "testing"

func startIdle() {}

func stopIdle() {}

func TestIdle(t *testing.T) {
	t.Skip("the switches between a process's threads are counted on Unix only")
}
