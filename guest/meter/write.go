package meter

// A writer writes a metered module.
type writer struct {
	*module
	graph     *graph
	use       *use
	provided  []hostFunction
	added     []string // types, in the order of their indices
	survey    survey
	opened    []opened // reused by each function
	safepoint uint32   // the function that the host provides
	counter   uint32   // the global that has what is left
	places    *places  // of the code, if there is debug information
	each      bool     // each instruction is charged separately: for tests
}

// takes reports whether a construct of this type takes values from the stack.
func (w *writer) takes(blockType []byte) bool {
	r := reader{data: blockType, end: len(blockType)}
	t := r.signed(5)
	return t >= 0 && w.params[t] > 0
}

// isCall reports whether an instruction calls.
func (w *writer) isCall(op Opcode) bool {
	return opCall <= op && op <= opReturnCallRef
}

// isChecked reports whether the instruction calls a function that certainly passes a safe point at
// once. What is called by its type, or by the host, may not.
func (w *writer) isChecked(c *code) bool {
	return c.op == opCall && w.flags[c.first]&checked != 0
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
	if (c.op == opCall || c.op == opReturnCall) && int(c.first) < w.imported {
		cost += HostCost
	} else if c.op == opCall || c.op == opReturnCall {
		cost += w.paid(c.first)
	}
	if w.mechanism == Epoch {
		if to := w.callee(c); to != none && !w.isChecked(c) {
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
	w.provided = w.imports()
	w.hosts = len(w.provided)
	w.safepoint, w.counter = uint32(w.imported), uint32(w.globals)
	w.added = w.newTypes()
	w.findStack()
	e := g.extent
	w.survey = survey{frames: make([]frame, 0, e.depth), constructs: make([]uint8, 0, e.constructs), charges: make([]charge, 0, e.charges)}
	w.opened = make([]opened, 0, e.depth)
	for _, flags := range w.flags {
		if w.mechanism == Fuel {
			e.more += 9
		}
		if flags&checked != 0 {
			e.more += 18
		}
	}
	w.findDebug()
	out := make([]byte, 0, min(4*len(w.data), len(w.data)+e.more)+4*room)
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
	return w.mark(w.writeDebug(out)), nil
}

// missing writes the sections that the module lacks between two places, and needs now.
func (w *writer) missing(out []byte, after, before int) []byte {
	for _, id := range []int{typeSection, importSection, globalSection, exportSection} {
		if order[id] > after && order[id] < before {
			r := &reader{data: []byte{0}, end: 1}
			at := begin(&out, id)
			out = w.add(out, id, r)
			fill(&out, at)
		}
	}
	return out
}

// begin starts a section. Its size is written when it ends.
func begin(out *[]byte, id int) int {
	*out = append(append(*out, byte(id)), hole...)
	return len(*out)
}

// hole is where a size is written later.
const hole = "\x00\x00\x00\x00\x00"

// fill writes the size of what follows a hole, in as few bytes as it needs.
func fill(out *[]byte, at int) {
	head := appendU32((*out)[:at-len(hole)], uint32(len(*out)-at))
	*out = append(head, (*out)[at:]...)
}
