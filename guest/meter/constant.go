package meter

// constant reads a constant expression. If out is not nil, it writes the expression there with
// indices as the metered module has them.
func (m *module) constant(r *reader, out []byte) []byte {
	copied := r.at
	for r.err == nil {
		at := r.at
		switch op := Opcode(r.byte()); op {
		case opEnd:
			if out != nil {
				out = append(out, r.data[copied:r.at]...)
			}
			return out
		case opI32Const:
			r.signed(5)
		case opI64Const:
			r.signed(10)
		case 0x43:
			r.skip(4)
		case 0x44:
			r.skip(8)
		case opGlobalGet:
			if g := r.u32(); r.err == nil && int(g) >= m.globals {
				r.fail(at, "global %d does not exist", g)
			}
		case opRefNull:
			r.heapType(m)
		case opRefFunc:
			f := r.u32()
			m.mark(r, at, f, escapes)
			if out != nil && r.err == nil {
				out = append(out, r.data[copied:at]...)
				out = appendU32(append(out, byte(opRefFunc)), m.shift(f))
				copied = r.at
			}
		case 0xfd:
			if n := r.u32(); r.err == nil && n != 0x0c {
				r.fail(at, "instruction 0xfd %#x is not constant", n)
			}
			r.skip(16)
		case opI32Add, opI32Sub, 0x6c, opI64Add, opI64Sub, opI64Mul:
		default:
			r.fail(at, "instruction %#x is not constant, or unknown", op)
		}
	}
	return out
}

// heapType reads a heap type.
func (r *reader) heapType(m *module) {
	at := r.at
	if t := r.signed(5); r.err == nil && t >= int64(len(m.params)) {
		r.fail(at, "type %d does not exist", t)
	}
}

// shift returns the index of a function in the metered module.
func (m *module) shift(f uint32) uint32 {
	if int(f) < m.imported {
		return f
	}
	return f + uint32(m.hosts) // after what the meter imports
}

// tableSection reads the tables. If out is not nil, it writes them there instead of noting them.
func (m *module) tableSection(r *reader, out []byte) []byte {
	at := r.at
	for n := r.count("tables"); n > 0 && r.err == nil; n-- {
		initial := r.more() && r.data[r.at] == 0x40
		if initial {
			r.skip(2)
		}
		never := r.more() && r.data[r.at] == 0x64
		if out == nil {
			m.addTable(r)
		} else {
			r.valueType()
			r.limits()
		}
		if initial {
			if never && r.more() && Opcode(r.data[r.at]) == opRefNull {
				// wazero refuses this only in a module without functions.
				r.fail(r.at, "null is not a value for a table whose elements are never null")
			}
			out = append2(out, r.data[at:r.at])
			out = m.constant(r, out)
			at = r.at
		}
	}
	return append2(out, r.data[at:r.at])
}

// readElements notes the functions to which a reference exists.
func (m *module) readElements(r *reader) {
	m.elementSegments(r, nil)
}

// elementSegments reads the element section. If out is not nil, it writes the section there with
// indices as the metered module has them.
func (m *module) elementSegments(r *reader, out []byte) []byte {
	n := r.count("segments")
	if out != nil {
		out = appendU32(out, uint32(n))
	}
	for ; n > 0 && r.err == nil; n-- {
		at := r.at
		flags := r.u32()
		if r.err == nil && flags > 7 {
			r.fail(at, "unknown form %d of an element segment", flags)
		}
		if flags&1 == 0 { // active
			if flags&2 != 0 {
				r.u32()
			}
			out = append2(out, r.data[at:r.at])
			out = m.constant(r, out)
			at = r.at
		}
		if flags&3 != 0 {
			if flags&4 != 0 {
				r.valueType()
			} else {
				r.byte()
			}
		}
		size := r.count("elements")
		out = append2(out, r.data[at:r.at])
		for range size {
			if r.err != nil {
				return out
			}
			if flags&4 != 0 {
				out = m.constant(r, out)
				continue
			}
			at := r.at
			f := r.u32()
			m.mark(r, at, f, escapes)
			if out != nil {
				out = appendU32(out, m.shift(f))
			}
		}
		if out == nil {
			m.elements = append(m.elements, uint32(size))
		}
	}
	return out
}

// append2 appends to what is written, if anything is written.
func append2(out, more []byte) []byte {
	if out == nil {
		return nil
	}
	return append(out, more...)
}
