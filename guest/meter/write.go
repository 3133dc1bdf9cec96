package meter

import "slices"

// A writer writes a metered module.
type writer struct {
	*module
	graph     *graph
	use       *use
	added     []string // types, in the order of their indices
	survey    survey
	frames    []frame // reused by each function
	safepoint uint32  // the function that the host provides
	counter   uint32  // the global that has what is left
}

// isCall reports whether an instruction calls.
func (w *writer) isCall(op Opcode) bool {
	return opCall <= op && op <= opReturnCallRef
}

// callee returns the node that an instruction calls, or none.
func (w *writer) callee(c *code) uint32 {
	switch c.op {
	case opCall, opReturnCall:
		if int(c.first) < w.imported {
			return w.host()
		}
		return c.first
	case opCallIndirect, opReturnCallIndirect, opCallRef, opReturnCallRef:
		return w.node(c.first)
	}
	return none
}

// price returns what the instruction costs before it runs. Epochs have no other place for the
// cost of a function without a safe point than its callers.
func (w *writer) price(c *code) uint32 {
	cost := uint32(Cost(c.op))
	if w.mechanism == Epoch {
		if to := w.callee(c); to != none {
			cost += w.graph.worst[to]
		}
	}
	return cost
}

// helper returns the index of the function that does a bulk operation.
func (w *writer) helper(key bulk) uint32 {
	return w.shift(uint32(len(w.functions))) + w.use.functions[key]
}

// write writes the module.
func (w *writer) write() ([]byte, error) {
	g, u, err := w.callGraph()
	if err != nil {
		return nil, err
	}
	w.graph, w.use = g, u
	w.safepoint, w.counter = uint32(w.imported), uint32(w.globals)
	w.added = w.newTypes()
	w.findStack()
	out := make([]byte, 0, len(w.data)+len(w.data)/4+256)
	out = append(out, preamble...)
	done := 0
	for _, s := range w.sections {
		if s.id != customSection {
			out = w.missing(out, done, order[s.id])
			done = order[s.id]
		}
		if out, err = w.section(out, s); err != nil {
			return nil, err
		}
	}
	out = w.missing(out, done, len(order))
	return w.mark(out), nil
}

// missing writes the sections that the module lacks between two places, and needs now.
func (w *writer) missing(out []byte, after, before int) []byte {
	for _, id := range []int{typeSection, importSection, globalSection, exportSection} {
		if order[id] > after && order[id] < before {
			r := &reader{data: []byte{0}, end: 1}
			at := begin(&out, id)
			out = w.add(out, id, r)
			finish(&out, at)
		}
	}
	return out
}

// begin starts a section. Its size is written when it ends.
func begin(out *[]byte, id int) int {
	*out = append(*out, byte(id), 0, 0, 0, 0, 0)
	return len(*out)
}

// finish ends a section, and writes its size in as few bytes as it needs.
func finish(out *[]byte, at int) {
	size := len(*out) - at
	head := appendU32((*out)[:at-5], uint32(size))
	if n := at - len(head); n > 0 {
		*out = slices.Delete(*out, len(head), at)
	}
}
