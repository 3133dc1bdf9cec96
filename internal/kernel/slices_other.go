//go:build !linux

package kernel

import "time"

// setSlices reports that there is no such call.
func setSlices(time.Duration) bool { return false }
