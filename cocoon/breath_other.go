//go:build !linux

package cocoon

import "time"

const canYield = false

// yieldCore does nothing: only Linux has a call that only yields the core.
func yieldCore() {}

// setSlices reports that there is no such call.
func setSlices(time.Duration) bool { return false }
