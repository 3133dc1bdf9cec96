package meter

import (
	"encoding/binary"
	"strings"
)

// dwarf writes the module's debug information again: DWARF of the versions 2 to 4, as compilers for
// WebAssembly write it. It names code by offsets, which are other ones in the metered code. All
// offsets stand in fields of 4 bytes, which are changed in place, except in line programs. If the
// debug information has another form, the metered module has none.
type dwarf struct {
	*places
	reader
	module *module
	out    []byte
	// by the name of a section: where its content is in the module, and in what is written
	from  map[string]section
	to    map[string]int
	lines []lineProgram
	abbreviations
	lists   []aList             // reused by each entry
	changed map[string][]uint64 // by section: a bit for each byte at which an element of a list was changed
}

// debugSections are the sections that are written again. Some of them need no changes.
var debugSections = []string{debugLine, debugAbbrev, debugRanges, debugLoc, debugAranges, debugInfo, debugTypes,
	".debug_str", ".debug_macinfo", ".debug_pubnames", ".debug_pubtypes", ".debug_gnu_pubnames", ".debug_gnu_pubtypes"}

const (
	debugInfo    = ".debug_info"
	debugTypes   = ".debug_types"
	debugAbbrev  = ".debug_abbrev"
	debugLine    = ".debug_line"
	debugRanges  = ".debug_ranges"
	debugLoc     = ".debug_loc"
	debugAranges = ".debug_aranges"
)

// isDebug reports whether a custom section is a part of DWARF.
func isDebug(name string) bool { return strings.HasPrefix(name, ".debug_") }

// findDebug notes where the parts of the debug information are, so that the places of the code are
// noted.
func (w *writer) findDebug() {
	var code section
	debug := false
	for _, s := range w.sections {
		switch r := w.reader(s); s.id {
		case codeSection:
			code = s
		case customSection:
			debug = debug || string(r.name()) == debugInfo
		}
	}
	if debug && code.id == codeSection {
		w.places = &places{code: code.start, limit: 1<<10 + (code.end-code.start)/12}
	}
}

// writeDebug writes the debug information, or nothing if it has an unknown form.
func (w *writer) writeDebug(out []byte) []byte {
	if w.places == nil || w.places.full {
		return out
	}
	d := &dwarf{places: w.places, module: w.module, out: out, from: map[string]section{}, to: map[string]int{}, changed: map[string][]uint64{}}
	for _, s := range w.sections {
		if r := w.reader(s); s.id == customSection {
			if name := string(r.name()); isDebug(name) {
				d.from[name] = section{s.id, r.at, s.end}
			}
		}
	}
	for _, name := range debugSections {
		d.write(name)
	}
	d.aranges()
	d.units(debugInfo)
	d.units(debugTypes)
	if d.err != nil {
		return out
	}
	return d.out
}

// open reads a section from its beginning, unless an error has occurred.
func (d *dwarf) open(name string) {
	s := d.from[name]
	err := d.err
	d.reader = reader{data: d.module.data, at: s.start, end: s.end, section: name, function: -1, err: err}
	if err != nil {
		d.at = d.end
	}
}

// write writes a section as it is, or line programs again.
func (d *dwarf) write(name string) {
	s, ok := d.from[name]
	if !ok || d.err != nil {
		return
	}
	at := begin(&d.out, customSection)
	d.out = appendName(d.out, name)
	start := len(d.out)
	if name == debugLine {
		d.linePrograms()
	} else {
		d.out = append(d.out, d.module.data[s.start:s.end]...)
	}
	size := len(d.out) - start
	fill(&d.out, at)
	d.to[name] = len(d.out) - size
}

// fixed reads a number of so many bytes.
func (d *dwarf) fixed(bytes int) (v uint64) {
	at := d.at
	if d.skip(bytes); d.err != nil {
		return 0
	}
	for i := range bytes {
		v |= uint64(d.data[at+i]) << (8 * i)
	}
	return v
}

// leb skips a number in LEB128 of any length.
func (d *dwarf) leb() {
	for d.byte() >= 0x80 {
	}
}

// put changes a field of 4 bytes, which stands at this place in the module.
func (d *dwarf) put(name string, at int, v uint32) {
	if d.err == nil {
		binary.LittleEndian.PutUint32(d.out[d.to[name]+at-d.from[name].start:], v)
	}
}

// moved returns the place in the metered module of the code at an address. Addresses of functions
// that the linker has removed stay.
func (d *dwarf) moved(v uint32) uint32 {
	if isGone(v) {
		return v
	}
	return d.of(v)
}

// isGone reports whether an address stands for a function that the linker has removed.
func isGone(v uint32) bool { return v == 0 || v >= 0xfffffffe }

// unit reads the length of a part of a section, and returns where the part ends.
func (d *dwarf) unit() (end int) {
	at := d.at
	n := d.fixed(4)
	if n > uint64(d.end-d.at) { // also if it announces a length of 8 bytes
		d.fail(at, "%d bytes do not fit the section", n)
		return d.end
	}
	return d.at + int(n)
}

// known demands a value of a field.
func (d *dwarf) known(what string, v, least, most uint64) {
	if v < least || v > most {
		d.fail(d.at, "unknown %s %d", what, v)
	}
}
