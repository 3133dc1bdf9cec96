//go:build amd64 || arm64

package goroutine

// canLoad reports whether load32 and load64 work here.
const canLoad = true

// load32 and load64 read memory of the runtime's. They are assembly because a conversion of an
// address to a pointer would be checked by checkptr, and the read by the race detector.
func load32(addr uintptr) uint32
func load64(addr uintptr) uint64
