package cocoon

import (
	"strings"
	"unsafe"
)

// freshLink is how code from cocoon build, which names it by go:linkname, allocates what it will
// write: the runtime clears memory in one call, and at hundreds of MB that is a gap of up to
// seconds.
//
//lint:ignore U1000 reached by go:linkname
var freshLink = fresh

// fresh returns n bytes, at least one, that have not been cleared; whoever gets them writes all of
// them before anybody reads. Of what Go offers to everybody, only a strings.Builder allocates so.
func fresh(n int) []byte {
	var b strings.Builder
	b.Grow(n)
	b.WriteByte(0)
	return unsafe.Slice(unsafe.StringData(b.String()), n)
}
