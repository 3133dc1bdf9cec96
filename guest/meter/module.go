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
	started // it is the start function
	silent  // its code neither looks at what is left nor charges
)

// What is known of a global.
const (
	isI32 = 1 << iota
	mutable
	public  // imported or exported
	written // by the module's code
)

// A module holds the meter's knowledge of a module before it rewrites it.
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
	hosts     int      // number of functions that the meter imports
	globals   int      // imports first
	stack     uint32   // the global that is the shadow stack pointer, or none
	foreign   bool     // functions of other modules may be in a table, or this module's leave it
	tables    [][]byte // types of elements, by table, imports first
	memory    bool
	shared    bool     // threads of other instances may use the memory
	datas     []uint32 // lengths of data segments
	elements  []uint32 // lengths of element segments
	state     []uint8  // by global
}

func (m *module) reader(s section) *reader {
	return &reader{data: m.data, at: s.start, end: s.end, section: sectionNames[s.id], function: -1}
}

// parse reads all of a module but its code.
func parse(data []byte) (*module, error) {
	m := &module{data: data, empty: none, stack: none, hosts: 1}
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
			m.shared = m.memory && r.limits()
			continue
		case globalSection:
			m.readGlobals(r)
		case exportSection:
			m.readExports(r)
		case startSection:
			m.mark(r, r.at, r.u32(), started)
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
