//go:build !unix

package loadtest

// CurrentUsage is not known on this system: the figures of it are 0, and claim nothing.
func CurrentUsage() Usage { return Usage{} }
