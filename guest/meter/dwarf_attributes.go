package meter

// This file reads how the entries of debug information are written.

// What an attribute of an entry is.
const (
	skipped      = iota // so many bytes, of no interest
	number              // in LEB128
	cString             // ends with 0
	counted             // bytes after a length of so many bytes, or in LEB128 if 0
	anAddress           // of code
	lowAddress          // the first address of the entry's code
	highLength          // the length of the entry's code, in so many bytes
	theLines            // where the unit's line program is
	theRanges           // where the entry's ranges are
	theLocations        // where a list of a variable's locations is
)

// attribute tells how to read an attribute.
type attribute struct{ what, bytes uint8 }

// abbreviations tell what attributes entries have. The entries of a unit refer to one table of them
// by numbers, from 1.
type abbreviations struct {
	tables     map[uint32]table
	starts     []uint32 // by abbreviation: its first attribute
	attributes []attribute
	read       int // bytes of the section, which each table uses on its own
}

// table is a range of starts. The attributes of an abbreviation end where the next abbreviation's
// begin.
type table struct{ first, n int }

// table returns the table at an offset.
func (d *dwarf) table(offset uint32, version uint64) table {
	if t, ok := d.tables[offset]; ok || d.err != nil {
		return t
	}
	s := d.from[debugAbbrev]
	if int(offset) >= s.end-s.start || len(d.tables) > 16+(s.end-s.start)/16 {
		d.fail(d.at, "no abbreviations at %#x", offset)
		return table{}
	}
	if d.tables == nil {
		d.tables = map[uint32]table{}
		d.attributes = make([]attribute, 0, (s.end-s.start)/2)
		d.starts = make([]uint32, 0, (s.end-s.start)/5+1)
	}
	was := d.reader
	d.open(debugAbbrev)
	d.at += int(offset)
	t := table{first: len(d.starts)}
	for d.err == nil {
		code := d.u32()
		if code == 0 {
			break
		}
		t.n++
		d.known("number of an abbreviation", uint64(code), uint64(t.n), uint64(t.n))
		d.u32() // the tag
		d.skip(1)
		d.starts = append(d.starts, uint32(len(d.attributes)))
		for {
			name, form := d.u32(), d.u32()
			if name == 0 && form == 0 {
				break
			}
			d.addAttribute(t, name, form, version)
		}
	}
	if d.read += d.at - s.start - int(offset); d.read > s.end-s.start {
		d.fail(d.at, "abbreviations overlap")
	}
	d.starts = append(d.starts, uint32(len(d.attributes)))
	was.err = d.err
	if d.reader = was; d.err != nil {
		d.at = d.end
	}
	d.tables[offset] = t
	return t
}

// addAttribute adds an attribute to the abbreviation that was added last.
func (d *dwarf) addAttribute(t table, name, form uint32, version uint64) {
	a := d.formOf(form)
	switch {
	case a.what == anAddress && name == 0x11:
		a.what = lowAddress
	case name == 0x12 && form != 0x01:
		d.known("form of a length", uint64(form), 0x05, 0x06) // data2, data4
		a.what = highLength
	case form != 0x17 && (form != 0x06 || version == 4): // sec_offset; before, data4 stood for it
	case name == 0x10:
		a.what = theLines
	case name == 0x55:
		a.what = theRanges
	case name == 0x02, name == 0x19, name == 0x2a, name == 0x40, name == 0x46, name == 0x48, name == 0x4a, name == 0x4d:
		a.what = theLocations
	}
	first := d.starts[len(d.starts)-1]
	if i := len(d.attributes) - 1; i >= int(first) && a.what == skipped {
		if last := &d.attributes[i]; last.what == skipped && last.bytes < 200 {
			last.bytes += a.bytes
			return
		}
	}
	d.attributes = append(d.attributes, a)
}

// formOf tells how to read the forms of DWARF 4.
func (d *dwarf) formOf(form uint32) attribute {
	switch form {
	case 0x01: // addr
		return attribute{anAddress, 4}
	case 0x0a: // block1
		return attribute{counted, 1}
	case 0x03: // block2
		return attribute{counted, 2}
	case 0x04: // block4
		return attribute{counted, 4}
	case 0x09, 0x18: // block, exprloc
		return attribute{counted, 0}
	case 0x0b, 0x0c, 0x11: // data1, flag, ref1
		return attribute{skipped, 1}
	case 0x05, 0x12: // data2, ref2
		return attribute{skipped, 2}
	case 0x06, 0x0e, 0x10, 0x13, 0x17: // data4, strp, ref_addr, ref4, sec_offset
		return attribute{skipped, 4}
	case 0x07, 0x14, 0x20: // data8, ref8, ref_sig8
		return attribute{skipped, 8}
	case 0x19: // flag_present
		return attribute{skipped, 0}
	case 0x08: // string
		return attribute{cString, 0}
	case 0x0d, 0x0f, 0x15: // sdata, udata, ref_udata
		return attribute{number, 0}
	}
	d.fail(d.at, "unknown form %#x", form)
	return attribute{}
}
