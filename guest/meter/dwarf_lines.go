package meter

import (
	"encoding/binary"
	"sort"
)

// This file writes line programs again. A line program makes rows: from this address on, the code
// comes from this line. Most of its bytes say by how much addresses and lines grow between rows.

// lineProgram is where a line program begins in its section, before and now.
type lineProgram struct{ from, to uint32 }

// program returns where the line program at an offset is now.
func (d *dwarf) program(from uint32) uint32 {
	i := sort.Search(len(d.lines), func(i int) bool { return d.lines[i].from >= from })
	if i == len(d.lines) || d.lines[i].from != from {
		d.fail(d.at, "no line program at %#x", from)
		return 0
	}
	return d.lines[i].to
}

// row is a row of a line program, as far as the meter needs it.
type row struct {
	address            uint32 // in the metered module
	file, line, column uint32
}

// A liner writes one line program again.
type liner struct {
	*dwarf
	base, factor, first int    // of opcodes that grow both the address and the line, and make a row
	lengths             []byte // by opcode: the number of operands
	gone                bool   // the present sequence is of a function that the linker has removed
	was                 uint32 // the present address in the module
	row                        // the present row
	latest              row    // the last row that was written
	again               []row  // rows of code that is written twice, for its second time
}

// linePrograms writes the section.
func (d *dwarf) linePrograms() {
	s, start := d.from[debugLine], len(d.out)
	d.open(debugLine)
	for d.at < s.end && d.err == nil {
		d.lines = append(d.lines, lineProgram{uint32(d.at - s.start), uint32(len(d.out) - start)})
		from, to := d.at, len(d.out)
		end := d.unit()
		d.known("version", d.fixed(2), 2, 4)
		l := liner{dwarf: d}
		l.head(d.data[from+4] >= 4)
		d.end = end
		d.out = append(d.out, d.data[from:min(d.at, end)]...)
		l.restart()
		for d.at < d.end && d.err == nil {
			if l.step(); len(d.out)-start > 4*(s.end-s.start)+1<<16 {
				d.fail(d.at, "the line programs would be more than four times as large")
			}
		}
		binary.LittleEndian.PutUint32(d.out[to:], uint32(len(d.out)-to-4))
		d.end = s.end
	}
}

// head reads a program's head, and goes to its first opcode.
func (l *liner) head(hasMost bool) {
	n := int(l.fixed(4))
	program := l.at + n
	l.known("unit of addresses", l.fixed(1), 1, 1)
	if hasMost {
		l.known("operations of an instruction", l.fixed(1), 1, 1)
	}
	l.skip(1) // default_is_stmt
	l.base = int(int8(l.byte()))
	l.factor, l.first = int(l.byte()), int(l.byte())
	l.known("number of opcodes", uint64(min(l.first, l.factor)), 1, 255)
	at := l.at
	l.skip(l.first - 1)
	if program < l.at || program > l.end {
		l.fail(at, "the head of a line program is too long")
	}
	if l.err == nil {
		l.lengths = l.data[at : at+l.first-1]
		l.at = program
	}
	for i, n := range "\x00\x01\x01\x01\x01\x00\x00\x00\x01\x00\x00\x01" {
		if i < len(l.lengths) && rune(l.lengths[i]) != n {
			l.fail(at, "unknown operands of opcode %d", i+1)
		}
	}
}

// restart begins a sequence of rows.
func (l *liner) restart() {
	l.was, l.row, l.latest, l.again, l.gone = 0, row{file: 1, line: 1}, row{}, l.again[:0], false
}

// step writes an opcode.
func (l *liner) step() {
	start := l.at
	switch op := int(l.byte()); {
	case op >= l.first:
		l.was += uint32((op - l.first) / l.factor)
		l.add(l.base+(op-l.first)%l.factor, true)
		return
	case op == 0:
		l.extended(start)
		return
	case op == 1: // copy
		l.add(0, false)
		return
	case op == 2: // advance_pc
		l.was += l.u32()
		return
	case op == 3: // advance_line
		l.line += uint32(l.signed(10))
	case op == 4: // set_file
		l.file = l.u32()
	case op == 5: // set_column
		l.column = l.u32()
	case op == 8: // const_add_pc
		l.was += uint32((255 - l.first) / l.factor)
		return
	case op == 9: // fixed_advance_pc
		l.was += uint32(l.fixed(2))
		return
	default:
		for range l.lengths[op-1] {
			l.leb()
		}
	}
	l.out = append(l.out, l.data[start:l.at]...)
}

// extended writes an extended opcode.
func (l *liner) extended(start int) {
	n := int(l.u32())
	at := l.at
	if l.skip(n); l.err != nil {
		return
	}
	switch op := l.data[at]; {
	case n == 0:
		l.fail(at, "an extended opcode without a number")
		return
	case op == 1: // end_sequence
		l.advance()
		l.restart()
	case op == 2 && n == 5: // set_address
		l.was = binary.LittleEndian.Uint32(l.data[at+1:])
		l.gone = isGone(l.was)
		l.address = l.place()
		l.out = append(l.out, l.data[start:at+1]...)
		l.out = binary.LittleEndian.AppendUint32(l.out, l.address)
		return
	}
	l.out = append(l.out, l.data[start:l.at]...)
}

// place returns the present address in the metered module.
func (l *liner) place() uint32 {
	if l.gone {
		return l.was
	}
	return l.of(l.was)
}

// advance writes how far the address has grown.
func (l *liner) advance() {
	l.repeat()
	l.to(l.place())
}

// to writes how far the address has to grow to an address.
func (l *liner) to(address uint32) {
	switch by := address - l.address; {
	case address < l.address:
		l.fail(l.at, "the addresses of a line program fall")
	case by > 0:
		l.out = appendU32(append(l.out, 2), by)
	}
	l.address = address
}

// add writes a row, which is so many lines further.
func (l *liner) add(lines int, special bool) {
	l.repeat()
	address := l.place()
	if op := l.first + lines - l.base + l.factor*int(address-l.address); special && address >= l.address && address-l.address < 256 && op <= 255 {
		l.out = append(l.out, byte(op))
	} else {
		l.to(address)
		if special {
			op = l.first + lines - l.base
		} else {
			op = 1
		}
		l.out = append(l.out, byte(op))
	}
	l.address = address
	l.line += uint32(lines)
	if !l.gone {
		l.note()
	}
	l.latest = l.row
}

// note notes the row that was written, if its code is written twice.
func (l *liner) note() {
	to, head := l.repeated(l.was)
	if head == nil {
		return
	}
	if len(l.again) == 0 && to > head.to && l.latest.file != 0 { // the row before it reaches into the loop
		before := l.latest
		before.address = head.to
		l.again = append(l.again, before)
	}
	again := l.row
	again.address = to
	l.again = append(l.again, again)
}

// repeat writes the rows of the second time, if the program has come to the code behind.
func (l *liner) repeat() {
	if len(l.again) == 0 || l.place() < l.again[0].address {
		return
	}
	now := l.row
	for _, r := range l.again {
		l.to(r.address)
		l.set(r)
		l.out = append(l.out, 1)
	}
	l.again = l.again[:0]
	now.address = l.address
	l.set(now)
}

// set writes the differences between the present row and another.
func (l *liner) set(r row) {
	if r.file != l.file {
		l.out = appendU32(append(l.out, 4), r.file)
	}
	if r.column != l.column {
		l.out = appendU32(append(l.out, 5), r.column)
	}
	if r.line != l.line {
		l.out = appendSigned(append(l.out, 3), int64(int32(r.line-l.line)))
	}
	l.file, l.line, l.column = r.file, r.line, r.column
}
