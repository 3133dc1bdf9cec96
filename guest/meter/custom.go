package meter

import "strings"

// custom writes a custom section. It drops sections with offsets of code, which would be wrong.
// Function indices in the name section refer to the metered module.
func (w *writer) custom(out []byte, s section) []byte {
	r := w.reader(s)
	name := string(r.name())
	if holdsOffsets(name) {
		return out
	}
	at := begin(&out, customSection)
	out = append(out, w.data[s.start:r.at]...)
	if name == "name" {
		start := len(out)
		if out = w.names(out, r); r.err != nil { // then an engine that reads it sees the same
			r = w.reader(s)
			r.name()
			out = append(out[:start], w.data[r.at:s.end]...)
		}
	} else {
		out = append(out, w.data[r.at:s.end]...)
	}
	fill(&out, at)
	return out
}

// holdsOffsets reports whether a custom section refers to code by its place: DWARF, which is
// written behind all other sections, source maps, hints for branches, and what a linker needs.
func holdsOffsets(name string) bool {
	return isDebug(name) || strings.HasPrefix(name, "reloc.") ||
		strings.HasPrefix(name, "metadata.code.") || name == "sourceMappingURL" || name == "linking" ||
		name == "external_debug_info"
}

// Subsections of the name section.
const (
	functionNames = 1
	localNames    = 2
	labelNames    = 3
	globalNames   = 7
)

// names writes the subsections of the name section. Labels have new numbers, so that their names
// are left out.
func (w *writer) names(out []byte, r *reader) []byte {
	for r.more() {
		id := r.byte()
		size := int(r.u32())
		start := r.at
		r.skip(size)
		if r.err != nil {
			return out
		}
		sub := &reader{data: r.data, at: start, end: r.at, section: r.section, function: -1}
		switch id {
		case labelNames:
			continue
		case functionNames, localNames:
			head := len(out)
			out = append(out, id, 0, 0, 0, 0, 0)
			at := len(out)
			out = w.nameMap(out, sub, id == localNames)
			if sub.err != nil {
				r.err = sub.err
				return out
			}
			fill(&out, at)
			out[head] = id
		default:
			out = appendU32(append(out, id), uint32(size))
			out = append(out, r.data[start:r.at]...)
		}
	}
	return out
}

// nameMap writes names by function, or names of locals by function.
func (w *writer) nameMap(out []byte, r *reader, nested bool) []byte {
	n := r.count("names")
	out = appendU32(out, uint32(n))
	for ; n > 0 && r.err == nil; n-- {
		f := r.u32()
		out = appendU32(out, w.shift(f))
		at := r.at
		if nested {
			for range r.count("names") {
				r.u32()
				r.name()
			}
		} else {
			r.name()
		}
		out = append(out, r.data[at:r.at]...)
	}
	if r.err == nil && r.more() {
		r.fail(r.at, "bytes follow the last name")
	}
	return out
}

// mark writes the section that says that the module is metered.
func (w *writer) mark(out []byte) []byte {
	at := begin(&out, customSection)
	out = appendName(out, SectionName)
	out = appendU32(append(out, Version, byte(w.mechanism)), w.safepoint)
	out = appendU32(appendU32(out, w.counter), w.private())
	fill(&out, at)
	return out
}
