package meter

// This file changes lists of ranges of code.

// list changes the list at an offset of a section: the ranges of an entry, or where a variable is
// in ranges of code. Addresses in it are relative to a base.
func (d *dwarf) list(name string, offset, base uint32) {
	was := d.reader
	defer func() {
		was.err = d.err
		if d.reader = was; d.err != nil {
			d.at = d.end
		}
	}()
	d.open(name)
	d.skip(int(offset))
	for d.err == nil {
		at := d.at
		low, high := uint32(d.fixed(4)), uint32(d.fixed(4))
		if low|high == 0 || d.err != nil || d.isChanged(name, at) {
			return
		}
		switch {
		case low == 0xffffffff: // a new base
			base = high
			d.put(name, at+4, d.moved(high))
			continue
		case isGone(base+low) || isGone(low) && low != 0:
		default:
			to := d.moved(base)
			d.put(name, at, d.of(base+low)-to)
			d.put(name, at+4, d.of(base+high)-to)
		}
		if name == debugLoc {
			d.skip(int(d.fixed(2)))
		}
	}
}

// isChanged reports whether the entry of a list at a place was changed before, and notes that it
// is: entries may share a list.
func (d *dwarf) isChanged(name string, at int) bool {
	s := d.from[name]
	bits := d.changed[name]
	if bits == nil {
		bits = make([]uint64, (s.end-s.start)/64+1)
		d.changed[name] = bits
	}
	i := at - s.start
	was := bits[i/64]&(1<<(i%64)) != 0
	bits[i/64] |= 1 << (i % 64)
	return was
}

// aranges changes the ranges of all units.
func (d *dwarf) aranges() {
	d.open(debugAranges)
	all := d.end
	for d.at < all && d.err == nil {
		start := d.at
		end := d.unit()
		d.known("version", d.fixed(2), 2, 2)
		d.skip(4)
		d.known("size of an address", d.fixed(1), 4, 4)
		d.known("size of a segment", d.fixed(1), 0, 0)
		d.skip((start - d.at) & 7) // to a multiple of a pair's size
		for d.at+8 <= end && d.err == nil {
			at := d.at
			low, n := uint32(d.fixed(4)), uint32(d.fixed(4))
			if !isGone(low) {
				d.put(debugAranges, at, d.of(low))
				d.put(debugAranges, at+4, d.of(low+n)-d.of(low))
			}
		}
		if d.err == nil {
			d.at = end
		}
	}
}
