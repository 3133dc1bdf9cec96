//go:build !amd64 && !arm64

package goroutine

// ID returns an identity of the calling goroutine: never zero, and different from that of any other
// living goroutine. On this platform it is the goroutine's number, and costs about a microsecond.
// It must not be kept past the end of its goroutine.
func ID() uintptr { return number() }
