package meter

import "math"

// A survey describes one function before it is rewritten. Its slices are reused by the next
// function.
type survey struct {
	constructs []uint8  // block, loop, if and try_table in the order of their starts: bits as below
	charges    []charge // in the order of their places
	local      bool     // what is left is kept in a local
	try        bool
	tails      bool // it has tail calls
	frames     []frame
	passed     int32      // the innermost frame within which a safe point was certainly passed
	counted    []counting // in the order of their places
}

// A charge is a cost, and the place in the module where it is subtracted.
type charge struct {
	at   uint32
	cost uint32 // and bits as below
}

// Bits of a charge with fuel. There are few bytes for each charge.
const (
	meets = 1 << 31 // a call that passes a safe point certainly follows
	looks = 1 << 30 // it follows a call in a recursive function that may have passed none
)

// units is the cost without the bits.
func (c charge) units() uint32 { return c.cost &^ (meets | looks) }

// Bits of a construct.
const (
	repeats = 1 << iota // a branch goes to the head of this loop
	nests               // a loop repeats in it
	calls               // it calls, or works on a length
	isLoop
	open   // a loop: some way from its head back to it has no safe point
	short  // it has few bytes of code
	brief  // it has very few
	counts // a counted loop
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

// look surveys a function after c has read its head.
func (s *survey) look(w *writer, c code) *Error {
	s.constructs = append(s.constructs[:0], 0)
	s.charges = append(s.charges[:0], charge{at: uint32(c.at)})
	s.frames = append(s.frames[:0], frame{escape: 1, passed: everywhere})
	s.try, s.tails = false, false
	s.counted = s.counted[:0]
	s.passed = nowhere
	region := int32(0)
	for c.more() {
		if len(s.frames) == 0 {
			c.fail(c.at, "instructions follow the function's end")
			break
		}
		s.run(w, &c, region)
		if !c.more() {
			break
		}
		c.next()
		if c.err != nil {
			break
		}
		region = s.step(w, &c, region)
		if region != dead && (w.each || s.charges[region].units() > most/2) && int(s.charges[len(s.charges)-1].at) != c.at {
			region = s.region(w, &c, region, false) // else much fuel would be charged at once
		}
	}
	if c.err == nil && len(s.frames) > 0 {
		c.fail(c.at, "the function has no end")
	}
	if c.err != nil {
		return c.err
	}
	s.local = !s.try && !w.each && s.suitsLocal(w.mechanism)
	return nil
}

// suitsLocal reports whether what is left should be kept in a local: some loop is lean. Around a
// call the local must be saved and loaded again, and functions with calls in loops tend to have
// more values than the machine has registers, so that the local would be in memory. Fuel gains all
// the same, because each charge waits for the one before it. Epochs charge too seldom for that, so
// no loop of theirs may call.
func (s *survey) suitsLocal(m Mechanism) bool {
	lean := false
	for _, k := range s.constructs {
		if m == Epoch && k&(isLoop|repeats|calls) == isLoop|repeats|calls {
			return false
		}
		lean = lean || isLean(k)
	}
	return lean
}

// run takes in simple instructions in one step, up to where a charge becomes large.
func (s *survey) run(w *writer, c *code, region int32) {
	switch {
	case w.each:
	case region == dead:
		c.run(c.end, unlimited)
	case w.mechanism == Epoch:
		s.add(region, c.run(c.end, unlimited))
	default:
		s.add(region, c.run(c.end, most/2-min(s.charges[region].units(), most/2)))
	}
}

// step takes in one instruction.
func (s *survey) step(w *writer, c *code, region int32) int32 {
	if isSimple(c.op) {
		if region != dead {
			s.add(region, uint32(costs[c.op]))
		}
		return region
	}
	if region != dead {
		s.add(region, w.price(c))
	}
	top := len(s.frames) - 1
	switch c.op {
	case opBlock, opLoop, opIf, opTryTable:
		return s.begin(w, c, region)
	case opElse:
		return s.otherwise(w, c, region)
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
		s.tails = s.tails || w.isCall(c.op)
		if region != dead {
			s.frames[top].escape = 0
		}
		return dead
	case opUnreachable:
		return dead
	}
	if region != dead && (w.isCall(c.op) && !w.isSilent(c) || w.isBulk(c)) {
		s.constructs[s.frames[top].construct] |= calls
		if w.isChecked(c) {
			s.passed = int32(top)
			if w.mechanism == Fuel {
				s.charges[region].cost |= meets
			}
		} else if w.mechanism == Fuel && w.flags[c.function]&checked != 0 && w.isCall(c.op) {
			region = s.region(w, c, region, false)
			s.charges[region].cost = looks
		}
	}
	return region
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
	c := &s.charges[region]
	sum := min(uint64(c.units())+uint64(cost), looks-1)
	c.cost = uint32(sum) | c.cost&(meets|looks)
}

// calls reports whether the function calls.
func (s *survey) calls() bool {
	for _, k := range s.constructs {
		if k&calls != 0 {
			return true
		}
	}
	return false
}
