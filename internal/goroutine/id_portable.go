//go:build !amd64 && !arm64

package goroutine

// ID returns an identity of the calling goroutine: never zero, and unique among living goroutines.
// On this platform it is the goroutine's number, and costs about a microsecond. It must not be kept
// past the end of its goroutine.
func ID() uintptr { return number() }
