package cocoon

import (
	"strings"
	"unsafe"
)

// unclearedLink gives code from cocoon build, which refers to it by go:linkname, memory that the
// code will overwrite. The Go runtime clears memory in one call, which is a gap of up to seconds
// for hundreds of MB.
//
//lint:ignore U1000 reached by go:linkname
var unclearedLink = uncleared

// uncleared returns n bytes, at least one, that have not been cleared. The caller must write all of
// them before any are read. Of Go's public API, only strings.Builder allocates without clearing.
func uncleared(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
