//go:build !linux

package cocoon

// yieldCore does nothing: only Linux has a call that gives the core away and nothing more.
func yieldCore() {}
