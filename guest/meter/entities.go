package meter

// This file reads what a module declares, in the order of its sections.

func (m *module) readTypes(r *reader) {
	known := map[string]uint32{}
	concrete := false
	for n := r.count("types"); n > 0 && r.err == nil; n-- {
		if r.more() && r.data[r.at] == 0x4e { // a group of types that refer to each other
			r.skip(1)
			for k := r.count("types"); k > 0 && r.err == nil; k-- {
				concrete = m.addType(r, known, true) || concrete
			}
			continue
		}
		concrete = m.addType(r, known, false) || concrete
	}
	if concrete { // types with equal bytes are equal, and types with other bytes may be
		clear(m.alike)
	}
}

// addType reads a type of functions, and reports whether it names another type.
func (m *module) addType(r *reader, known map[string]uint32, grouped bool) (concrete bool) {
	start := r.at
	if b := r.byte(); b != 0x60 {
		r.fail(start, "unknown form %#x of a type: only types of functions are known", b)
		return false
	}
	params := r.count("parameters")
	for range params {
		concrete = r.valueType() || concrete
	}
	for range r.count("results") {
		concrete = r.valueType() || concrete
	}
	text := m.data[start:r.at]
	index := uint32(len(m.params))
	first, ok := known[string(text)]
	if !ok {
		first = index
		known[string(text)] = first
	}
	if len(text) == 3 && m.empty == none && !grouped {
		m.empty = index
	}
	m.params = append(m.params, uint32(params))
	m.alike = append(m.alike, first)
	return concrete
}

// valueType reads a type of values, and reports whether it names another type.
func (r *reader) valueType() (concrete bool) {
	if b := r.byte(); b == 0x63 || b == 0x64 {
		return r.signed(5) >= 0
	}
	return false
}

// limits reads the limits of a table or memory, and reports whether threads share it.
func (r *reader) limits() (shared bool) {
	flags := r.byte()
	r.u32()
	if flags&1 != 0 {
		r.u32()
	}
	return flags&2 != 0
}

func (m *module) readImports(r *reader) {
	for n := r.count("imports"); n > 0 && r.err == nil; n-- {
		r.name()
		r.name()
		at := r.at
		switch kind := r.byte(); kind {
		case kindFunction:
			m.addFunction(r)
			m.imported++
		case kindTable:
			m.addTable(r)
			m.foreign = true
		case kindMemory:
			m.shared = r.limits()
			m.memory = true
		case kindGlobal:
			m.addGlobal(r, public)
		case kindTag:
			r.byte()
			r.u32()
		default:
			r.fail(at, "unknown kind %#x of an import", kind)
		}
	}
}

func (m *module) addFunction(r *reader) {
	at := r.at
	t := r.u32()
	if r.err == nil && int(t) >= len(m.params) {
		r.fail(at, "type %d does not exist", t)
	}
	m.functions = append(m.functions, t)
	m.flags = append(m.flags, 0)
}

func (m *module) addGlobal(r *reader, state uint8) {
	at := r.at
	r.valueType()
	if r.err == nil && r.data[at] == i32Type[0] {
		state |= isI32
	}
	if r.byte() == 1 {
		state |= mutable
	}
	m.state = append(m.state, state)
	m.globals++
}

// isStack reports whether a global may be a stack pointer by its type.
func (m *module) isStack(g uint32) bool {
	return int(g) < m.globals && m.state[g]&(isI32|mutable) == isI32|mutable
}

func (m *module) addTable(r *reader) {
	at := r.at
	r.valueType()
	m.tables = append(m.tables, r.data[at:r.at])
	r.limits()
}

func (m *module) readFunctions(r *reader) {
	n := r.count("functions")
	m.functions = append(make([]uint32, 0, len(m.functions)+n), m.functions...)
	m.flags = append(make([]uint8, 0, len(m.functions)+n), m.flags...)
	for ; n > 0 && r.err == nil; n-- {
		m.addFunction(r)
	}
}

func (m *module) readGlobals(r *reader) {
	for n := r.count("globals"); n > 0 && r.err == nil; n-- {
		m.addGlobal(r, 0)
		m.constant(r, nil)
	}
}

func (m *module) readExports(r *reader) {
	for n := r.count("exports"); n > 0 && r.err == nil; n-- {
		at := r.at
		name := string(r.name())
		switch name {
		case LeftExport, FuelExport, StackExport:
			r.fail(at, "the module exports %q: the meter needs that name", name)
		}
		kind := r.byte()
		index := r.u32()
		switch kind {
		case kindFunction:
			m.mark(r, at, index, exported)
		case kindTable:
			m.foreign = true
		case kindGlobal:
			if r.err == nil && int(index) >= m.globals {
				r.fail(at, "global %d does not exist", index)
			} else if r.err == nil {
				m.state[index] |= public
				if name == "__stack_pointer" && m.isStack(index) {
					m.stack = index
				}
			}
		}
	}
}

// mark notes something about a function.
func (m *module) mark(r *reader, at int, f uint32, what uint8) {
	if r.err != nil {
		return
	}
	if int(f) >= len(m.functions) {
		r.fail(at, "function %d does not exist", f)
		return
	}
	m.flags[f] |= what
}

func (m *module) readData(r *reader) {
	for n := r.count("segments"); n > 0 && r.err == nil; n-- {
		at := r.at
		switch flags := r.u32(); flags {
		case 2:
			r.u32()
			fallthrough
		case 0:
			m.constant(r, nil)
		case 1:
		default:
			r.fail(at, "unknown form %d of a data segment", flags)
		}
		size := r.u32()
		r.skip(int(size))
		m.datas = append(m.datas, size)
	}
}
