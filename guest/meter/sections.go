package meter

import "slices"

// section rewrites one section of the module.
func (w *writer) section(out []byte, s section) ([]byte, error) {
	r := w.reader(s)
	switch s.id {
	case customSection:
		return w.custom(out, s), nil
	case memorySection, dataSection, countSection, tagSection:
		at := begin(&out, s.id)
		out = append(out, w.data[s.start:s.end]...)
		fill(&out, at)
		return out, nil
	case codeSection:
		return w.code(out, r)
	}
	at := begin(&out, s.id)
	switch s.id {
	case tableSection:
		out = w.tableSection(r, out)
	case elementSection:
		out = w.elementSegments(r, out)
	case startSection:
		f := r.u32()
		if r.err == nil && int(f) >= len(w.functions) {
			r.fail(s.start, "function %d does not exist", f)
		}
		out = appendU32(out, w.shift(f))
		out = append(out, w.data[r.at:s.end]...)
	default:
		out = w.add(out, s.id, r)
	}
	if r.err != nil {
		return nil, r.err
	}
	fill(&out, at)
	return out, nil
}

// add writes a section with what the meter adds to it.
func (w *writer) add(out []byte, id int, r *reader) []byte {
	n := r.u32()
	rest := r.data[r.at:r.end]
	switch id {
	case typeSection:
		more := w.added
		out = append(appendU32(out, n+uint32(len(more))), rest...)
		for _, t := range more {
			out = append(out, t...)
		}
	case importSection:
		out = append(appendU32(out, n+uint32(w.hosts)), rest...)
		for _, f := range w.provided {
			out = appendName(appendName(out, Host), f.name)
			out = appendU32(append(out, kindFunction), w.typeIndex(f.signature))
		}
	case functionSection:
		out = append(appendU32(out, n+uint32(len(w.use.keys))), rest...)
		for _, key := range w.use.keys {
			out = appendU32(out, w.typeIndex(w.bulkType(key)))
		}
	case globalSection:
		out = appendU32(out, n+1)
		for ; n > 0 && r.err == nil; n-- {
			at := r.at
			r.valueType()
			r.byte()
			out = append(out, r.data[at:r.at]...)
			out = w.constant(r, out)
		}
		out = append(out, i64Type[0], 1, byte(opI64Const), 0, byte(opEnd))
	case exportSection:
		out = w.exports(out, r, n)
	}
	return out
}

// exports writes the module's exports and the meter's.
func (w *writer) exports(out []byte, r *reader, n uint32) []byte {
	more := uint32(1)
	if w.stack != none {
		more++
	}
	out = appendU32(out, n+more)
	for ; n > 0 && r.err == nil; n-- {
		at := r.at
		r.name()
		kind := r.byte()
		out = append(out, r.data[at:r.at]...)
		index := r.u32()
		if kind == kindFunction {
			index = w.shift(index)
		}
		out = appendU32(out, index)
	}
	out = append(appendName(out, w.mechanism.export()), kindGlobal)
	out = appendU32(out, w.counter)
	if w.stack != none {
		out = append(appendName(out, StackExport), kindGlobal)
		out = appendU32(out, w.stack)
	}
	return out
}

// code writes the code section.
func (w *writer) code(out []byte, r *reader) ([]byte, error) {
	section := begin(&out, codeSection)
	n := r.count("functions")
	out = appendU32(out, uint32(n+len(w.use.keys)))
	at := r.at
	for f := w.imported; f < len(w.functions); f++ {
		c := w.open(f, at, r.end)
		at = c.end
		out = append(out, hole...)
		start := len(out)
		var err *Error
		if out, err = w.function(out, c); err != nil {
			return nil, err
		}
		size := len(out) - start
		fill(&out, start)
		w.places.finish(len(out) - size - section)
	}
	for _, key := range w.use.keys {
		out = append(out, hole...)
		start := len(out)
		out = w.bulkBody(out, key)
		fill(&out, start)
		if len(out) > 4*len(w.data)+1<<16 {
			r.fail(r.end, "the metered module would have more than four times the size: bulk instructions on very many tables")
			return nil, r.err
		}
	}
	fill(&out, section)
	return out, nil
}

// functionType returns a function type in the binary format.
func functionType(params, results string) string {
	return "\x60" + string(rune(len(params))) + params + string(rune(len(results))) + results
}

// newTypes returns the types that the meter adds, in the order of their indices.
func (w *writer) newTypes() []string {
	var list []string
	if w.empty == none {
		list = append(list, functionType("", ""))
	}
	add := func(t string) {
		if !slices.Contains(list, t) {
			list = append(list, t)
		}
	}
	for _, f := range w.provided {
		if f.signature != functionType("", "") {
			add(f.signature)
		}
	}
	for _, key := range w.use.keys {
		add(w.bulkType(key))
	}
	return list
}

// typeIndex returns the index of a type that the meter uses.
func (w *writer) typeIndex(t string) uint32 {
	if t == functionType("", "") && w.empty != none {
		return w.empty
	}
	for i, other := range w.added {
		if t == other {
			return uint32(len(w.params) + i)
		}
	}
	panic("meter: a type is missing") // newTypes has all
}
