package meter

// This file changes the entries of debug information, which describe functions, blocks and
// variables.

// units changes the units of a section.
func (d *dwarf) units(name string) {
	d.open(name)
	all := d.end
	for d.at < all && d.err == nil {
		end := d.unit()
		version := d.fixed(2)
		d.known("version", version, 2, 4)
		at := uint32(d.fixed(4))
		d.known("size of an address", d.fixed(1), 4, 4)
		if name == debugTypes {
			d.skip(12)
		}
		t := d.table(at, version)
		d.end = end
		d.entries(name, t)
		if d.err == nil {
			d.at, d.end = end, all
		}
	}
}

// entries changes the entries of a unit, from the reader's place to its end.
func (d *dwarf) entries(name string, t table) {
	base, first := uint32(0), true
	for d.at < d.end && d.err == nil {
		code := int(d.u32())
		if code == 0 {
			continue
		}
		if code > t.n {
			d.fail(d.at, "abbreviation %d does not exist", code)
			return
		}
		i := t.first + code - 1
		e := entry{section: name, lists: d.lists[:0]}
		for _, a := range d.attributes[d.starts[i]:d.starts[i+1]] {
			d.attribute(a, &e)
		}
		if first {
			base, first = e.low, false
		}
		d.change(&e, base)
	}
}

// An entry is what attributes say of its code.
type entry struct {
	section       string
	low           uint32
	length, bytes int // where the length of its code stands, in so many bytes; 0: nowhere
	lists         []aList
}

// aList is a list of ranges at an offset of a section.
type aList struct {
	section string
	at      uint32
}

// attribute reads an attribute of an entry.
func (d *dwarf) attribute(a attribute, e *entry) {
	at := d.at
	switch a.what {
	case skipped:
		d.skip(int(a.bytes))
	case number:
		d.leb()
	case cString:
		for d.byte() != 0 {
		}
	case counted:
		n := uint64(0)
		if a.bytes > 0 {
			n = d.fixed(int(a.bytes))
		} else {
			n = uint64(d.u32())
		}
		d.skip(int(n))
	case anAddress, lowAddress:
		v := uint32(d.fixed(4))
		if a.what == lowAddress {
			e.low = v
		}
		d.put(e.section, at, d.moved(v))
	case highLength:
		d.skip(int(a.bytes))
		e.length, e.bytes = at, int(a.bytes)
	case theLines:
		d.put(e.section, at, d.program(uint32(d.fixed(4))))
	case theRanges:
		e.lists = append(e.lists, aList{debugRanges, uint32(d.fixed(4))})
	case theLocations:
		e.lists = append(e.lists, aList{debugLoc, uint32(d.fixed(4))})
	}
}

// change changes what depends on several attributes.
func (d *dwarf) change(e *entry, base uint32) {
	if e.bytes > 0 && !isGone(e.low) && d.err == nil {
		d.changeLength(e)
	}
	for _, l := range e.lists {
		d.list(l.section, l.at, base)
	}
	d.lists = e.lists
}

// changeLength changes the length of an entry's code.
func (d *dwarf) changeLength(e *entry) {
	was := d.reader
	d.at = e.length
	n := uint32(d.fixed(e.bytes))
	d.reader = was
	if n = d.of(e.low+n) - d.of(e.low); e.bytes == 2 {
		d.known("length of two bytes", uint64(n), 0, 1<<16-1)
	}
	for i := range e.bytes {
		d.out[d.to[e.section]+e.length-d.from[e.section].start+i] = byte(n >> (8 * i))
	}
}
