//go:build !unix

package loadtest

// CurrentUsage returns zero, because the usage is unknown on this system.
func CurrentUsage() Usage { return Usage{} }
