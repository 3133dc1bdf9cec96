package instrument

// bulkText is added to the package's file if builtin functions are replaced. A piece has 256 KiB
// where memory is new: the kernel, and perhaps a hypervisor below it, provides this memory page by
// page, in 0.1 to 2 ms, rarely 8. Elsewhere a piece has 1 MiB, because from this size on the
// runtime copies past the caches: 64 MB take 1.0 times as long as in one call, and 1.6 times in
// pieces of 256 KiB.
//
// Overlapping memory is moved in one call: after half of the move it would contain neither the old
// nor the new data. If the elements certainly contain no pointers (they are numbers, or aligned to
// less than pointers), growing memory is allocated uncleared, because the runtime would clear it in
// one call. It is cleared or written in pieces before other code can read it. A slice has the
// capacity that append gives it.
const bulkText = `
const PREFIX_bulkSize = 256 << 10

//go:linkname PREFIX_uncleared COCOON.unclearedLink
var PREFIX_uncleared func(n int) []byte

func PREFIX_bulkCopy[E any](to, from []E, pieces func(to, from []E) int) int {
	if uintptr(len(from))*PREFIX_unsafe.Sizeof(*new(E)) > PREFIX_bulkSize {
		return pieces(to, from)
	}
	return copy(to, from)
}

func PREFIX_bulkCopyString(to []byte, from string, pieces func(to []byte, from string) int) int {
	if len(from) > PREFIX_bulkSize {
		return pieces(to, from)
	}
	return copy(to, from)
}

func PREFIX_bulkAppend[S ~[]E, E any](to S, from []E, pieces func(to S, from []E) S) S {
	if uintptr(len(to)+len(from))*PREFIX_unsafe.Sizeof(*new(E)) > PREFIX_bulkSize && (cap(to)-len(to) < len(from) || len(from) > 64) {
		return pieces(to, from)
	}
	return append(to, from...)
}

func PREFIX_bulkAppendString[S ~[]byte](to S, from string, pieces func(to S, from string) S) S {
	if uintptr(len(to)+len(from)) > PREFIX_bulkSize && (cap(to)-len(to) < len(from) || len(from) > 64) {
		return pieces(to, from)
	}
	return append(to, from...)
}

func PREFIX_bulkExtend[S ~[]E, E any](to S, n int, pieces func(to S, n int) S) S {
	if uintptr(len(to)+n)*PREFIX_unsafe.Sizeof(*new(E)) > PREFIX_bulkSize {
		return pieces(to, n)
	}
	return append(to, make(S, n)...)
}

func PREFIX_bulkMade[S ~[]E, E any](n int, from []E, pieces func(n int, from []E) S) S {
	if uintptr(n)*PREFIX_unsafe.Sizeof(*new(E)) > PREFIX_bulkSize {
		return pieces(n, from)
	}
	all := make(S, n)
	copy(all, from)
	return all
}

func PREFIX_bulkClear[E any](all []E, pieces func(all []E)) {
	if uintptr(len(all))*PREFIX_unsafe.Sizeof(*new(E)) > PREFIX_bulkSize {
		pieces(all)
		return
	}
	clear(all)
}

func PREFIX_bulkStep[E any](bytes uintptr) int {
	if size := PREFIX_unsafe.Sizeof(*new(E)); size > 0 && size < bytes {
		return int(bytes / size)
	}
	return 1
}

func PREFIX_bulkOverlap[E any](a, b []E) bool {
	x, y := uintptr(PREFIX_unsafe.Pointer(PREFIX_unsafe.SliceData(a))), uintptr(PREFIX_unsafe.Pointer(PREFIX_unsafe.SliceData(b)))
	size := PREFIX_unsafe.Sizeof(*new(E))
	return x < y+uintptr(len(b))*size && y < x+uintptr(len(a))*size
}

//go:noinline
func PREFIX_bulkCopyPieces[E any](to, from []E) int {
	if len(to) > len(from) {
		to = to[:len(from)]
	}
	from = from[:len(to)]
	if uintptr(len(to))*PREFIX_unsafe.Sizeof(*new(E)) <= PREFIX_bulkSize || PREFIX_bulkOverlap(to, from) {
		return copy(to, from)
	}
	PREFIX_bulkMove(to, from, 4*PREFIX_bulkSize)
	return len(to)
}

func PREFIX_bulkMove[E any](to, from []E, bytes uintptr) {
	for step := PREFIX_bulkStep[E](bytes); len(from) > 0; to, from = to[step:], from[step:] {
		if step > len(from) {
			step = len(from)
		}
		POLL
		copy(to, from[:step])
	}
}

//go:noinline
func PREFIX_bulkClearPieces[E any](all []E) {
	for step := PREFIX_bulkStep[E](PREFIX_bulkSize); len(all) > 0; all = all[step:] {
		if step > len(all) {
			step = len(all)
		}
		POLL
		clear(all[:step])
	}
}

//go:noinline
func PREFIX_bulkCopyStringPieces(to []byte, from string) int {
	return PREFIX_bulkCopyPieces(to, PREFIX_unsafe.Slice(PREFIX_unsafe.StringData(from), len(from)))
}

//go:noinline
func PREFIX_bulkAppendPieces[S ~[]E, E any](to S, from []E) S {
	if n := len(to) + len(from); n >= 0 && n <= cap(to) {
		all := to[:n]
		PREFIX_bulkCopyPieces(all[len(to):], from)
		return all
	}
	all := PREFIX_bulkGrown[S, E](to, len(from), len(to)+len(from))
	if all == nil {
		return append(to, from...)
	}
	PREFIX_bulkMove(all[len(to):], from, PREFIX_bulkSize)
	return all
}

//go:noinline
func PREFIX_bulkAppendStringPieces[S ~[]byte](to S, from string) S {
	return PREFIX_bulkAppendPieces(to, PREFIX_unsafe.Slice(PREFIX_unsafe.StringData(from), len(from)))
}

//go:noinline
func PREFIX_bulkExtendPieces[S ~[]E, E any](to S, n int) S {
	if n >= 0 && n <= cap(to)-len(to) {
		all := to[:len(to)+n]
		PREFIX_bulkClearPieces(all[len(to):])
		return all
	}
	all := PREFIX_bulkGrown[S, E](to, n, len(to))
	if all == nil {
		return append(to, make(S, n)...)
	}
	return all
}

func PREFIX_bulkPlain[E any]() bool {
	switch any((*E)(nil)).(type) {
	case *int, *int64, *uint, *uint64, *uintptr, *float64, *complex128:
		return true
	}
	return PREFIX_unsafe.Alignof(*new(E)) < PREFIX_unsafe.Sizeof(uintptr(0))
}

//go:noinline
func PREFIX_bulkMadePieces[S ~[]E, E any](n int, from []E) S {
	if n < 0 || uintptr(n) > PREFIX_bulkMost/PREFIX_unsafe.Sizeof(*new(E)) || PREFIX_uncleared == nil || !PREFIX_bulkPlain[E]() {
		all := make(S, n)
		PREFIX_bulkCopyPieces(all, from)
		return all
	}
	if len(from) > n {
		from = from[:n]
	}
	all := PREFIX_bulkFresh[E](n)
	PREFIX_bulkMove(all, from, PREFIX_bulkSize)
	PREFIX_bulkClearPieces(all[len(from):])
	return all
}

func PREFIX_bulkFresh[E any](n int) []E {
	bytes := PREFIX_uncleared(n * int(PREFIX_unsafe.Sizeof(*new(E))))
	return PREFIX_unsafe.Slice((*E)(PREFIX_unsafe.Pointer(PREFIX_unsafe.SliceData(bytes))), n)
}

const PREFIX_bulkMost = 1 << (30 + 10*(^uintptr(0)>>63)) // bytes; beyond that the builtin functions know best

func PREFIX_bulkGrown[S ~[]E, E any](to S, by, zero int) S {
	n, c, size := len(to)+by, cap(to), PREFIX_unsafe.Sizeof(*new(E))
	if by < 0 || n < 0 || size == 0 || uintptr(n) > PREFIX_bulkMost/size {
		return nil
	}
	switch {
	case n > 2*c:
		c = n
	case c < 256:
		c *= 2
	}
	for c < n {
		c += (c + 768) / 4
	}
	c = int((uintptr(c)*size + 8191) &^ 8191 / size)
	if PREFIX_uncleared == nil || !PREFIX_bulkPlain[E]() {
		all := make(S, n, c)
		PREFIX_bulkMove(all, to, PREFIX_bulkSize)
		return all
	}
	all := PREFIX_bulkFresh[E](c)
	PREFIX_bulkMove(all, to, PREFIX_bulkSize)
	PREFIX_bulkClearPieces(all[zero:])
	return all[:n]
}
`
