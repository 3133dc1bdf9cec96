//go:build !amd64 && !arm64

package goroutine

// ID returns an identity of the calling goroutine: never zero, and unlike that of any other living
// goroutine. Here it is the goroutine's number, and costs about a microsecond. It must not be kept
// past the end of its goroutine.
func ID() uintptr { return number() }
