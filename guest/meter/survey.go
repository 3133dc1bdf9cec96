package meter

import "math"

// A survey is what one function looks like before it is written anew. Its slices are reused by the
// next function.
type survey struct {
	constructs []uint8  // block, loop, if and try_table in the order of their starts: bits as below
	charges    []charge // in the order of their places
	local      bool     // what is left is kept in a local
	try        bool
	frames     []outline
}

// A charge is a cost, and the place in the module where it is subtracted.
type charge struct {
	at   uint32
	cost uint32
}

// Bits of a construct.
const (
	repeats = 1 << iota // a loop to whose head a branch goes
	nests               // a loop repeats in it
	calls               // it calls, or works on a length
	isLoop
)

// An outline is an open construct.
type outline struct {
	construct int32
	region    int32 // the charge in which the code before it is summed up, or dead
	escape    int32 // the lowest frame to which a branch in it goes
	own       int32 // of a loop: the charge of its body
}

const dead = -1

// isLean reports whether a construct is a loop that repeats, and neither calls nor has another such
// loop in it: what happens in it happens often.
func isLean(k uint8) bool { return k&(isLoop|repeats|nests|calls) == isLoop|repeats }

// look surveys the function whose head c has read.
func (s *survey) look(w *writer, c code) *Error {
	s.constructs = append(s.constructs[:0], 0)
	s.charges = append(s.charges[:0], charge{at: uint32(c.at)})
	s.frames = append(s.frames[:0], outline{escape: 1})
	s.try = false
	region := int32(0)
	for c.more() {
		if len(s.frames) == 0 {
			c.fail(c.at, "instructions follow the function's end")
			break
		}
		c.next()
		if c.err != nil {
			break
		}
		region = s.step(w, &c, region)
	}
	if c.err == nil && len(s.frames) > 0 {
		c.fail(c.at, "the function has no end")
	}
	if c.err != nil {
		return c.err
	}
	s.local = false
	if !s.try {
		for _, k := range s.constructs {
			s.local = s.local || isLean(k)
		}
	}
	return nil
}

// step takes in one instruction.
func (s *survey) step(w *writer, c *code, region int32) int32 {
	if region != dead {
		s.add(region, w.price(c))
	}
	top := len(s.frames) - 1
	switch c.op {
	case opBlock, opLoop, opIf, opTryTable:
		s.frames = append(s.frames, outline{int32(len(s.constructs)), region, int32(top + 1), dead})
		s.constructs = append(s.constructs, 0)
		if c.op == opLoop {
			s.constructs[len(s.constructs)-1] = isLoop
		}
		if c.op == opTryTable {
			s.try = true
			at := *c
			at.at = at.immediate
			at.blockType()
			at.catches(func(label uint32, _ int) { s.branch(c, region, label+1, top+1) })
		}
		if (c.op == opLoop || c.op == opIf) && region != dead {
			region = s.region(w, c, region, c.op == opLoop)
			s.frames[top+1].own = region
			return region
		}
	case opElse:
		if start := s.frames[top].region; start != dead {
			return s.region(w, c, start, false)
		}
		return dead
	case opEnd:
		return s.end(w, c)
	case opBr:
		s.branch(c, region, c.first, top)
		return dead
	case opBrIf, opBrOnNull, opBrOnNonNull:
		s.branch(c, region, c.first, top)
		if region != dead {
			return s.region(w, c, region, false)
		}
	case opBrTable:
		labels := *c
		labels.at = labels.immediate
		for n := labels.u32() + 1; n > 0; n-- {
			s.branch(c, region, labels.u32(), top)
		}
		return dead
	case opReturn, opReturnCall, opReturnCallIndirect, opReturnCallRef, opThrow, opThrowRef:
		if region != dead {
			s.frames[top].escape = 0
		}
		return dead
	case opUnreachable:
		return dead
	}
	if region != dead && (w.isCall(c.op) || w.isBulk(c)) {
		s.constructs[s.frames[top].construct] |= calls
	}
	return region
}

// branch notes a branch to a label.
func (s *survey) branch(c *code, region int32, label uint32, top int) {
	if label > uint32(top) {
		c.fail(c.start, "label %d does not exist", label)
		return
	}
	to := top - int(label)
	if region == dead {
		return
	}
	s.constructs[s.frames[to].construct] |= repeats // of a loop; it means nothing for others
	s.frames[top].escape = min(s.frames[top].escape, int32(to))
}

// region begins a charge at the next instruction, if one is needed there.
func (s *survey) region(w *writer, c *code, before int32, loop bool) int32 {
	if w.mechanism == Epoch && !loop {
		return before
	}
	s.charges = append(s.charges, charge{at: uint32(c.at)})
	return int32(len(s.charges) - 1)
}

func (s *survey) add(region int32, cost uint32) {
	sum := uint64(s.charges[region].cost) + uint64(cost)
	s.charges[region].cost = uint32(min(sum, math.MaxUint32))
}

// end takes in the end of the innermost construct. The code after it belongs to the charge of the
// code before it, if it is certain that the construct comes to its end.
func (s *survey) end(w *writer, c *code) int32 {
	top := len(s.frames) - 1
	f := s.frames[top]
	s.frames = s.frames[:top]
	if top == 0 {
		return dead
	}
	up := &s.frames[top-1]
	up.escape = min(up.escape, f.escape)
	k := s.constructs[f.construct]
	if k&(isLoop|repeats) == isLoop|repeats {
		s.constructs[up.construct] |= nests
	} else if k&isLoop != 0 && w.mechanism == Epoch && f.region != dead {
		s.add(f.region, s.charges[f.own].cost)
		s.charges[f.own].cost = 0
	}
	s.constructs[up.construct] |= k & (nests | calls)
	if f.region == dead || w.mechanism != Fuel || f.escape >= int32(top) {
		return f.region
	}
	return s.region(w, c, f.region, false)
}
