package meter

import "bytes"

// Sections of the binary format, by their numbers.
const (
	customSection = iota
	typeSection
	importSection
	functionSection
	tableSection
	memorySection
	globalSection
	exportSection
	startSection
	elementSection
	codeSection
	dataSection
	countSection
	tagSection
)

var sectionNames = [...]string{"custom", "type", "import", "function", "table", "memory", "global",
	"export", "start", "element", "code", "data", "data count", "tag"}

// order is the place of each section, by number; custom sections may stand anywhere.
var order = [...]int{0, 1, 2, 3, 4, 5, 7, 8, 9, 10, 12, 13, 11, 6}

// Kinds of imports and exports.
const (
	kindFunction = iota
	kindTable
	kindMemory
	kindGlobal
	kindTag
)

// preamble is the magic number and the version of a module.
const preamble = "\x00asm\x01\x00\x00\x00"

const none = ^uint32(0)

type section struct {
	id         int
	start, end int // of its content
}

// What is known of a function.
const (
	escapes = 1 << iota // a reference to it may be called
	exported
	checked // it has a safe point at its entry
)

// What is known of a global.
const (
	isI32 = 1 << iota
	mutable
	public  // imported or exported
	written // by the module's code
)

// A module is what the meter knows of a module before it writes it anew.
type module struct {
	mechanism Mechanism
	data      []byte
	sections  []section

	params    []uint32 // number of parameters, by type
	alike     []uint32 // the first type that is equal, by type
	empty     uint32   // a type without parameters and results, or none
	functions []uint32 // type, by function, imports first
	flags     []uint8  // by function
	imported  int      // number of imported functions
	globals   int      // imports first
	stack     uint32   // the global that is the shadow stack pointer, or none
	foreign   bool     // functions of other modules may be in a table, or this module's leave it
	tables    [][]byte // types of elements, by table, imports first
	memory    bool
	datas     []uint32 // lengths of data segments
	elements  []uint32 // lengths of element segments
	state     []uint8  // by global
}

func (m *module) reader(s section) *reader {
	return &reader{data: m.data, at: s.start, end: s.end, section: sectionNames[s.id], function: -1}
}

// parse reads all of a module but its code.
func parse(data []byte) (*module, error) {
	m := &module{data: data, empty: none, stack: none}
	if err := m.split(); err != nil {
		return nil, err
	}
	for _, s := range m.sections {
		if r := m.reader(s); s.id == customSection && string(r.name()) == SectionName {
			r.fail(s.start, "the module is metered already: meter the original")
			return nil, r.err
		}
	}
	for _, s := range m.sections {
		r := m.reader(s)
		switch s.id {
		case customSection:
			if r.name(); r.err == nil {
				continue
			}
		case typeSection:
			m.readTypes(r)
		case importSection:
			m.readImports(r)
		case functionSection:
			m.readFunctions(r)
		case tableSection:
			m.tableSection(r, nil)
		case memorySection:
			m.memory = r.u32() > 0
			continue
		case globalSection:
			m.readGlobals(r)
		case exportSection:
			m.readExports(r)
		case elementSection:
			m.readElements(r)
		case dataSection:
			m.readData(r)
		default:
			continue
		}
		if r.err == nil && r.more() {
			r.fail(r.at, "%d bytes follow the last element", r.end-r.at)
		}
		if r.err != nil {
			return nil, r.err
		}
	}
	return m, nil
}

// split finds the sections.
func (m *module) split() error {
	r := &reader{data: m.data, end: len(m.data), function: -1}
	if !bytes.HasPrefix(m.data, []byte(preamble)) {
		r.fail(0, "this is not a WebAssembly module of version 1: it does not start with \\0asm 1 0 0 0")
		return r.err
	}
	r.at = len(preamble)
	for last := 0; r.more(); {
		at := r.at
		id := int(r.byte())
		if id >= len(sectionNames) {
			r.fail(at, "unknown section %d", id)
			return r.err
		}
		r.section = sectionNames[id]
		if id != customSection {
			if order[id] <= last {
				r.fail(at, "the section stands twice, or after a section that must follow it")
			}
			last = order[id]
		}
		size := int(r.u32())
		start := r.at
		r.skip(size)
		if r.err != nil {
			return r.err
		}
		m.sections = append(m.sections, section{id, start, r.at})
	}
	return nil
}

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
	if concrete { // types with equal bytes are equal, and others may be
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

func (r *reader) limits() {
	flags := r.byte()
	r.u32()
	if flags&1 != 0 {
		r.u32()
	}
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
			r.limits()
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
