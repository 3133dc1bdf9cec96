//go:build !linux

package kernel

// CanYield reports whether YieldCore has an effect.
const CanYield = false

// YieldCore does nothing: only Linux has a call that only yields the core.
func YieldCore() {}
