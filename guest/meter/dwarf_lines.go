package meter

import (
	"encoding/binary"
	"math"
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

// A liner writes one line program again.
type liner struct {
	*dwarf
	base, factor, first int               // of opcodes that grow both the address and the line, and make a row
	lengths             []byte            // by opcode: the number of operands
	gone                bool              // the present sequence is of a function that the linker has removed
	was                 uint32            // the present address in the module
	row                                   // the present row
	latest              row               // the last row that was written
	copies              [mostCopies][]row // rows of a loop that is written several times, for its further copies
}

// linePrograms writes the section.
func (d *dwarf) linePrograms() {
	s, start := d.from[debugLine], len(d.out)
	d.open(debugLine)
	for d.at < s.end && d.err == nil {
		d.lines = append(d.lines, lineProgram{uint32(d.at - s.start), uint32(len(d.out) - start)})
		from, to := d.at, len(d.out)
		d.end = d.unit()
		version := d.fixed(2)
		d.known("version", version, 2, 4)
		l := liner{dwarf: d}
		if l.head(version == 4); d.err != nil {
			return
		}
		d.out = append(d.out, d.data[from:d.at]...)
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
	l.was, l.row, l.latest, l.gone = 0, row{file: 1, line: 1}, row{}, false
	for i := range l.copies {
		l.copies[i] = l.copies[i][:0]
	}
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
	l.known("length of an extended opcode", uint64(n), 1, math.MaxInt32)
	if l.skip(n); l.err != nil {
		return
	}
	switch op := l.data[at]; {
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
