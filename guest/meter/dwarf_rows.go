package meter

// This file writes the rows of line programs.

// row is a row of a line program, as far as the meter needs it.
type row struct {
	address            uint32 // in the metered module
	file, line, column uint32
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
	case address < l.address && !l.gone:
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
	by := address - l.address
	if op := l.first + lines - l.base + l.factor*int(by); special && by < 256 && op <= 255 {
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

// note notes the row that was written, for further copies of its code.
func (l *liner) note() {
	for k := 1; k < mostCopies; k++ {
		to, head := l.repeated(k, l.was)
		if head == nil {
			return
		}
		if len(l.copies[k]) == 0 && to > head.to && l.latest.file != 0 { // the row before it reaches into the loop
			before := l.latest
			before.address = head.to
			l.copies[k] = append(l.copies[k], before)
		}
		again := l.row
		again.address = to
		l.copies[k] = append(l.copies[k], again)
	}
}

// repeat writes the rows of further copies, if the program has come to the code behind.
func (l *liner) repeat() {
	if len(l.copies[1]) == 0 || l.place() < l.copies[1][0].address {
		return
	}
	now := l.row
	for k := range l.copies {
		for _, r := range l.copies[k] {
			l.to(r.address)
			l.set(r)
			l.out = append(l.out, 1)
		}
		l.copies[k] = l.copies[k][:0]
	}
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
