//go:build !linux

package cocoon

import (
	"testing"
	"time"
)

func ownSlice(*testing.T) time.Duration { return 0 }
