package meter

// findStack looks for the shadow stack pointer by its name, if it is not exported, and then by what
// the code does.
func (w *writer) findStack() {
	for _, s := range w.sections {
		r := w.reader(s)
		if s.id != customSection || w.stack != none || string(r.name()) != "name" {
			continue
		}
		for r.more() {
			id := r.byte()
			size := int(r.u32())
			start := r.at
			r.skip(size)
			if r.err != nil || id != globalNames {
				continue
			}
			sub := &reader{data: r.data, at: start, end: r.at}
			for n := sub.count("names"); n > 0 && sub.err == nil; n-- {
				g := sub.u32()
				if string(sub.name()) == "__stack_pointer" && w.isStack(g) {
					w.stack = g
				}
			}
		}
	}
	if w.stack == none {
		w.stack = w.graph.prologues.most()
	}
}

// private returns the number of mutable globals that only the module's code writes.
func (w *writer) private() uint32 {
	n := uint32(0)
	for g, state := range w.state {
		if state&(mutable|public|written) == mutable|written && uint32(g) != w.stack {
			n++
		}
	}
	return n
}

// prologues counts, by global, functions that take a frame from a shadow stack as LLVM writes it:
//
//	global.get $sp; i32.const 16; i32.sub; local.tee 2; global.set $sp
//
// with local.set and local.get in place of local.tee in code that is not optimized. Frames are
// multiples of 16 bytes: a counter that a function lowers is not a stack pointer.
type prologues struct {
	count map[uint32]int
	step  int
	sp    uint32
	local uint32
}

// see takes in one instruction of a function whose first instruction stands at head.
func (p *prologues) see(c *code, head int) {
	switch {
	case c.start == head && c.op == opGlobalGet && c.m.isStack(c.first):
		p.step, p.sp = 1, c.first
		return
	case p.step == 0 || c.start == head:
		p.step = 0
		return
	case p.step == 1 && c.op == opI32Const && c.data[c.immediate]&0xf == 0, p.step == 2 && c.op == opI32Sub:
		p.step++
		return
	case p.step == 3 && c.op == opLocalSet:
		p.step, p.local = 4, c.first
		return
	case p.step == 3 && c.op == opLocalTee, p.step == 4 && c.op == opLocalGet && c.first == p.local:
		p.step = 5
		return
	case p.step == 5 && c.op == opGlobalSet && c.first == p.sp:
		if p.count == nil {
			p.count = map[uint32]int{}
		}
		p.count[p.sp]++
	}
	p.step = 0
}

// most returns the global with the most prologues, or none.
func (p *prologues) most() uint32 {
	best := none
	for g, n := range p.count {
		if best == none || n > p.count[best] || n == p.count[best] && g < best {
			best = g
		}
	}
	return best
}
