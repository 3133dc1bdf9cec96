package meter

import "math"

// A survey is what one function looks like before it is written anew. Its slices are reused by the
// next function.
type survey struct {
	constructs []uint8  // block, loop, if and try_table in the order of their starts: bits as below
	charges    []charge // in the order of their places
	local      bool     // what is left is kept in a local
	try        bool
	frames     []frame
	passed     int32 // the innermost frame since whose start a safe point was certainly passed
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
	open // a loop: some way from its head back to it has no safe point
)

const (
	dead       = -1
	nowhere    = -1
	everywhere = math.MaxInt32
)

// isOpen reports whether a construct is a loop that needs a safe point at its head.
func isOpen(k uint8) bool { return k&(isLoop|repeats|open) == isLoop|repeats|open }

// isLean reports whether a construct is a loop that repeats, and neither calls nor has another such
// loop in it: what happens in it happens often.
func isLean(k uint8) bool { return k&(isLoop|repeats|nests|calls) == isLoop|repeats }

// look surveys the function whose head c has read.
func (s *survey) look(w *writer, c code) *Error {
	s.constructs = append(s.constructs[:0], 0)
	s.charges = append(s.charges[:0], charge{at: uint32(c.at)})
	s.frames = append(s.frames[:0], frame{escape: 1, passed: everywhere})
	s.try = false
	s.passed = nowhere
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
		if w.each && region != dead && int(s.charges[len(s.charges)-1].at) != c.at {
			region = s.region(w, &c, region, false)
		}
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
		s.frames = append(s.frames, frame{construct: int32(len(s.constructs)), region: region, escape: int32(top + 1), passed: everywhere})
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
			if c.op == opIf {
				s.frames[top+1].passed = s.passed
			}
			return region
		}
	case opElse:
		f := &s.frames[top]
		was := f.passed
		s.join(region, f)
		s.passed = was
		if start := f.region; start != dead {
			return s.region(w, c, start, false)
		}
		return dead
	case opEnd:
		return s.end(w, c, region)
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
		if w.isChecked(c) {
			s.passed = int32(top)
		}
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
	if s.passed < int32(to) {
		s.constructs[s.frames[to].construct] |= open
	}
	s.frames[to].passed = min(s.frames[to].passed, s.passed)
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
func (s *survey) end(w *writer, c *code, region int32) int32 {
	top := len(s.frames) - 1
	f := s.frames[top]
	s.frames = s.frames[:top]
	if top == 0 {
		return dead
	}
	up := &s.frames[top-1]
	up.escape = min(up.escape, f.escape)
	k := s.constructs[f.construct]
	if k&isLoop == 0 {
		s.join(region, &f)
		s.passed = min(f.passed, int32(top-1))
	} else {
		s.passed = min(s.passed, int32(top-1))
		if isOpen(k) {
			s.passed = int32(top - 1) // at its head
		}
	}
	if k&(isLoop|repeats) == isLoop|repeats {
		s.constructs[up.construct] |= nests
	}
	s.constructs[up.construct] |= k & (nests | calls)
	if f.region == dead || w.mechanism != Fuel || f.escape >= int32(top) {
		return f.region
	}
	return s.region(w, c, f.region, false)
}

// join notes that this code leads to the end of a construct.
func (s *survey) join(region int32, f *frame) {
	if region != dead {
		f.passed = min(f.passed, s.passed)
	}
}
