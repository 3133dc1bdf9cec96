package instrument

// bulkText is added to the package's file where builtin functions are replaced. What a piece is: its memory is there, or
// comes page by page, from the kernel and perhaps from a hypervisor below it, which takes 0.1 to 2 ms for a quarter of a MiB.
//
// Where memory overlaps, it is moved in one call: half-way there would be neither the old nor the new. Memory that grows is
// allocated without being cleared, which the runtime would do in one call, when its elements surely have no pointers:
// nothing else is aligned to less than they are. It is cleared, or written, in pieces before anybody sees it. A slice has
// the capacity that append gives it.
const bulkText = `
const PREFIX_bulkSize = 256 << 10

//go:linkname PREFIX_fresh COCOON.freshLink
var PREFIX_fresh func(n int) []byte

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

func PREFIX_bulkClear[E any](all []E, pieces func(all []E)) {
	if uintptr(len(all))*PREFIX_unsafe.Sizeof(*new(E)) > PREFIX_bulkSize {
		pieces(all)
		return
	}
	clear(all)
}

func PREFIX_bulkStep[E any]() int {
	if size := PREFIX_unsafe.Sizeof(*new(E)); size > 0 && size < PREFIX_bulkSize {
		return int(PREFIX_bulkSize / size)
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
	step := PREFIX_bulkStep[E]()
	if len(to) <= step || PREFIX_bulkOverlap(to, from) {
		return copy(to, from)
	}
	n := len(to)
	for ; len(to) > step; to, from = to[step:], from[step:] {
		POLL
		copy(to[:step], from[:step])
	}
	POLL
	copy(to, from)
	return n
}

//go:noinline
func PREFIX_bulkClearPieces[E any](all []E) {
	for step := PREFIX_bulkStep[E](); len(all) > step; all = all[step:] {
		POLL
		clear(all[:step])
	}
	POLL
	clear(all)
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
	PREFIX_bulkCopyPieces(all[len(to):], from)
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

func PREFIX_bulkGrown[S ~[]E, E any](to S, by, zero int) S {
	const most = 1 << (30 + 10*(^uintptr(0)>>63)) // bytes; beyond that append knows best
	n, c, size := len(to)+by, cap(to), PREFIX_unsafe.Sizeof(*new(E))
	if by < 0 || n < 0 || size == 0 || uintptr(n) > most/size {
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
	bytes := (uintptr(c)*size + 8191) &^ 8191
	c = int(bytes / size)
	if PREFIX_fresh == nil || PREFIX_unsafe.Alignof(*new(E)) >= PREFIX_unsafe.Sizeof(bytes) {
		all := make(S, n, c)
		PREFIX_bulkCopyPieces(all, to)
		return all
	}
	all := S(PREFIX_unsafe.Slice((*E)(PREFIX_unsafe.Pointer(PREFIX_unsafe.SliceData(PREFIX_fresh(int(bytes))))), c))
	PREFIX_bulkCopyPieces(all, to)
	PREFIX_bulkClearPieces(all[zero:])
	return all[:n]
}
`
