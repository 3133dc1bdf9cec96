//go:build amd64 || arm64

package goroutine

// canLoad reports whether load32 and load64 work on this platform.
const canLoad = true

// load32 and load64 read the runtime's memory. They are assembly because in Go, checkptr would
// check the conversion of an address to a pointer, and the race detector would check the read.
func load32(addr uintptr) uint32
func load64(addr uintptr) uint64
