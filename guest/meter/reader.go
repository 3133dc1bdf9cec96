package meter

import "fmt"

// A reader reads a part of a module. After its first error it reads zeros, and keeps the error, so
// that its callers need to look at the error only where they end or repeat.
type reader struct {
	data     []byte // the whole module, so that positions are offsets in it
	at, end  int
	section  string
	function int
	err      *Error
}

// fail notes the first problem.
func (r *reader) fail(at int, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Section: r.section, Function: r.function, Offset: at, Problem: fmt.Sprintf(format, args...)}
	}
	r.at = r.end
}

func (r *reader) more() bool { return r.at < r.end }

func (r *reader) byte() byte {
	if r.at >= r.end {
		r.fail(r.at, "unexpected end")
		return 0
	}
	b := r.data[r.at]
	r.at++
	return b
}

func (r *reader) skip(n int) {
	if n > r.end-r.at {
		r.fail(r.at, "unexpected end: %d bytes are missing", n-(r.end-r.at))
		return
	}
	r.at += n
}

// u32 reads an unsigned number of at most 32 bits in LEB128.
func (r *reader) u32() uint32 {
	if r.at < r.end {
		if b := r.data[r.at]; b < 0x80 { // most numbers have one byte
			r.at++
			return uint32(b)
		}
	}
	var v uint32
	for at, shift := r.at, 0; at < r.end && shift < 28; at, shift = at+1, shift+7 { // and most others are right
		b := r.data[at]
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			r.at = at + 1
			return v
		}
	}
	v = 0
	for start, shift := r.at, 0; ; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		if shift == 28 && b > 0x0f {
			r.fail(start, "a number does not fit 32 bits")
			return 0
		}
		v |= uint32(b&0x7f) << shift
		if b < 0x80 {
			return v
		}
	}
}

// signed skips a signed number of at most so many bytes, and returns its value if it fits 63 bits.
func (r *reader) signed(most int) int64 {
	var v int64
	for at, shift := r.at, 0; at < min(r.end, r.at+most) && shift < 56; at, shift = at+1, shift+7 { // most numbers are right
		b := r.data[at]
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			r.at = at + 1
			return v | -int64(b>>6)<<(shift+7)
		}
	}
	v = 0
	for start, shift := r.at, 0; ; shift += 7 {
		b := r.byte()
		if r.err != nil {
			return 0
		}
		if r.at-start > most {
			r.fail(start, "a number has more than %d bytes", most)
			return 0
		}
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			if shift+7 < 64 && b&0x40 != 0 {
				v |= -1 << (shift + 7)
			}
			return v
		}
	}
}

// name reads a string.
func (r *reader) name() []byte {
	n := int(r.u32())
	start := r.at
	r.skip(n)
	return r.data[start:r.at:r.at]
}

// count reads the number of elements that follow. Each takes at least one byte, so that a small
// module cannot ask for much memory.
func (r *reader) count(what string) int {
	at := r.at
	n := int(r.u32())
	if n > r.end-r.at {
		r.fail(at, "%d %s do not fit the section", n, what)
		return 0
	}
	return n
}

func appendU32(b []byte, v uint32) []byte {
	for v >= 0x80 {
		b = append(b, byte(v)|0x80)
		v >>= 7
	}
	return append(b, byte(v))
}

func appendSigned(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

func appendName(b []byte, s string) []byte {
	return append(appendU32(b, uint32(len(s))), s...)
}
