package meter

// A head is the code with which a function certainly begins. With fuel its callers pay for it: a
// call then charges once, and not again at the function's entry.
type head struct {
	size uint16 // of the function in bytes, up to most
	// The lower bits are the cost of its own instructions and, once the function is complete, what
	// its callers pay. The upper bits are how many of the function's calls belong to it, the first
	// ones.
	costAndCalls uint16
}

const (
	costBits  = 10
	mostCalls = 1<<(16-costBits) - 1
)

func (h head) cost() int  { return int(h.costAndCalls & (1<<costBits - 1)) }
func (h head) calls() int { return int(h.costAndCalls >> costBits) }

func (h *head) set(cost, calls int) { h.costAndCalls = uint16(cost | calls<<costBits) }

// mostPaid bounds what callers pay, and what runs in a silent function. It is small compared with
// what may run between two safe points.
const mostPaid = 1000

// A prelude reads the head of a function. With epochs it reads the whole function.
type prelude struct {
	cost, calls int
	ended       bool // the head is read
	loud        bool // the function is not silent
}

// see takes in an instruction.
func (p *prelude) see(c *code) {
	cost, calls := int(Cost(c.op)), 0
	switch c.op {
	case opLoop, opTryTable, opThrow, opThrowRef, opReturnCall, opReturnCallIndirect, opReturnCallRef:
		p.end()
		return
	case opIf, opElse, opBr, opBrIf, opBrTable, opBrOnNull, opBrOnNonNull, opReturn, opUnreachable:
		if c.m.mechanism == Fuel {
			p.end()
			return
		}
	case opCall:
		calls = 1
		if int(c.first) < c.m.imported {
			cost += HostCost
			p.loud = true
		}
	case opCallIndirect, opCallRef:
		calls = 1
		p.loud = true
	default:
		p.loud = p.loud || c.form != plain && c.m.isBulk(c)
	}
	if p.cost+cost > mostPaid || p.calls+calls > mostCalls {
		p.end()
		return
	}
	p.cost += cost
	p.calls += calls
}

// run takes in simple instructions in one step.
func (p *prelude) run(c *code) {
	if p.ended {
		c.run(c.end, unlimited)
	} else {
		p.cost += int(c.run(c.end, uint32(mostPaid-p.cost)))
	}
}

func (p *prelude) end() { p.ended, p.loud = true, true }

// pay decides what the callers of a function pay for it, and whether it is silent. What it calls
// is complete, or in its own component. Its worst is known.
func (s *search) pay(v uint32) {
	m := s.m
	if int(v) >= len(m.functions) {
		return
	}
	h := &s.heads[v]
	total := h.cost()
	isSilent := m.flags[v]&silent != 0 && s.worst[v] <= most/2 // it has no safe point before a call
	for i := s.first[v]; i < s.first[v]+uint32(h.calls()); i++ {
		to := s.calls.at(i)
		if int(to) >= len(m.functions) {
			continue
		}
		if s.state[to] != complete {
			isSilent = false
			continue
		}
		total += s.heads[to].cost()
		isSilent = isSilent && m.flags[to]&silent != 0
	}
	if total > mostPaid {
		total, isSilent = h.cost(), false
	}
	if m.flags[v]&checked != 0 || m.mechanism == Fuel && m.flags[v]&(exported|escapes|started) != 0 {
		total, isSilent = 0, false // it has callers that pay nothing
	}
	h.set(total, 0)
	if !isSilent {
		m.flags[v] &^= silent
	}
}

// paid returns what the callers of a function pay for it.
func (w *writer) paid(f uint32) uint32 {
	if w.mechanism != Fuel || w.each || int(f) < w.imported {
		return 0
	}
	return uint32(w.graph.heads[f].cost())
}

// isSilent reports whether the instruction calls a function that neither looks at what is left nor
// charges.
func (w *writer) isSilent(c *code) bool {
	return c.op == opCall && w.flags[c.first]&silent != 0
}
