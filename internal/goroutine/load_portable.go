//go:build !amd64 && !arm64

package goroutine

// canLoad reports whether load32 and load64 work on this platform.
const canLoad = false

func load32(uintptr) uint32 { return 0 }
func load64(uintptr) uint64 { return 0 }
