package meter

import "math/bits"

// A loop that counts up or down to a value by a constant step looks once for a block of iterations:
// it runs until its counter has its value at the end of the block, in place of the last
// one. So an iteration costs as much as without the meter. body.block writes this.
//
// A counted loop is lean, nothing in it leaves it, and it ends with
//
//	counter += step
//	branch to the loop's head if counter != last
//
// where the step is a power of two, or the negative of one, and the loop sets the counter and the
// last value nowhere else. This is what LLVM makes of many loops.
type counting struct {
	counter uint32 // a local
	step    int32
	last    uint32 // a local, or none
	value   int32  // the last value, if it is not in a local
	compare int    // where the module compares
	length  int32  // the number of iterations in a block
}

// blockUnits bounds what runs in a block, in units of Cost. It is small compared with the amount
// after which a guest calls the host, and large compared with what a block costs.
const blockUnits = 2048

// With fewer iterations in a block, its cost matters. The bound of the step lets a block end before
// the counter has the same value again.
const (
	leastLength = 8
	mostStep    = 1 << 16
)

// A tail is the last instructions that a scan has read, and which locals they set.
type tail struct {
	last        [8]instruction // in a ring
	read        uint           // their number
	once, twice uint64         // bits of the first 64 locals
	high        bool           // another local is set
}

type instruction struct {
	op        Opcode
	index     uint32
	start, at int
}

// put takes in an instruction.
func (t *tail) put(c *code) {
	t.last[t.read%8] = instruction{op: c.op, index: c.first, start: c.start, at: c.immediate}
	t.read++
	if c.op == opLocalSet || c.op == opLocalTee {
		bit := uint64(1) << (c.first & 63)
		t.twice |= t.once & bit
		t.once |= bit
		t.high = t.high || c.first > 63
	}
}

// before returns the instruction that many before the latest one.
func (t *tail) before(n uint) *instruction { return &t.last[(t.read-1-n)%8] }

// match returns the loop that ends with these instructions.
func (t *tail) match(c *code) (l counting, ok bool) {
	value := func(at int) int32 {
		r := reader{data: c.data, at: at, end: c.end}
		return int32(r.signed(5))
	}
	l = counting{last: none, compare: t.before(0).start}
	n := uint(1)
	if t.before(1).op == opI32Ne {
		final := t.before(2)
		l.compare, n = final.start, 3
		switch final.op {
		case opI32Const:
			l.value = value(final.at)
		case opLocalGet:
			l.last = final.index
		default:
			return l, false
		}
	}
	tee, add, by, get := t.before(n), t.before(n+1), t.before(n+2), t.before(n+3)
	if t.read < uint(n)+4 || tee.op != opLocalTee || add.op != opI32Add || by.op != opI32Const || get.op != opLocalGet {
		return l, false
	}
	l.counter, l.step = tee.index, value(by.at)
	size := max(l.step, -l.step)
	isSet := func(bits uint64, local uint32) bool { return bits>>(local&63)&1 != 0 }
	return l, get.index == tee.index && 0 < size && size <= mostStep && size&(size-1) == 0 && !t.high &&
		!isSet(t.twice, l.counter) && (l.last == none || !isSet(t.once, l.last))
}

// findCounted returns what is known of a loop whose code begins at a place, and ends where c has
// read an end, if it is a counted one. The code has no errors.
func findCounted(c code, from int) (counting, bool) {
	if c.start-from < 5 || Opcode(c.data[c.start-2]) != opBrIf || c.data[c.start-1] != 0 {
		return counting{}, false // most other loops end otherwise
	}
	c.at, c.end = from, c.start
	var t tail
	depth, branches, cost := uint32(0), 0, int64(0)
	for c.more() {
		c.next()
		t.put(&c)
		if isSimple(c.op) {
			cost += int64(costs[c.op])
			continue
		}
		cost += Cost(c.op)
		switch c.op {
		case opBlock, opLoop, opIf:
			depth++
		case opEnd:
			depth--
		case opBr, opBrIf, opBrOnNull, opBrOnNonNull:
			if c.first == depth {
				branches++
			}
		case opBrTable, opTryTable, opCall:
			return counting{}, false
		}
	}
	l, ok := t.match(&c)
	if !ok || branches != 1 || cost > blockUnits/leastLength {
		return counting{}, false
	}
	l.length = int32(blockUnits / cost)
	return l, true
}

// block writes what begins a block of iterations: it charges them, and sets the value of the
// counter at which the block ends. That is the last value, if it comes within the block, which it
// does only if the difference is a multiple of the step.
func (b *body) block(l *counting) {
	size := max(l.step, -l.step)
	most := int64(l.length * size)
	less := func(from, by func()) { // in the direction of the step
		if l.step < 0 {
			from, by = by, from
		}
		from()
		by()
		b.emit(opI32Sub)
	}
	counter := func() { b.with(opLocalGet, l.counter) }
	until := func() { b.with(opLocalGet, b.until) }
	less(func() { b.final(l) }, counter)
	b.with(opLocalTee, b.until)
	b.i32(most)
	until()
	b.i32(1)
	b.emit(opI32Sub)
	b.i32(most)
	b.emit(opI32LtU)
	if size > 1 {
		until()
		b.i32(int64(size - 1))
		b.emit(opI32And, opI32Eqz, opI32And)
	}
	b.emit(opSelect)
	b.with(opLocalSet, b.until)
	b.chargeEach(func() {
		until()
		if size > 1 {
			b.i32(int64(bits.TrailingZeros32(uint32(size))))
			b.emit(opI32ShrU)
		}
	})
	counter()
	until()
	if l.step < 0 {
		b.emit(opI32Sub)
	} else {
		b.emit(opI32Add)
	}
	b.with(opLocalSet, b.until)
}

// untilEnd writes the comparison at the end of an iteration.
func (b *body) untilEnd() {
	b.flush(b.counted[0].compare)
	b.copied = b.start
	b.with(opLocalGet, b.until)
	b.emit(opI32Ne)
}

// nextBlock continues behind a block with the next one, unless the loop is over.
func (b *body) nextBlock() {
	l := &b.counted[0]
	b.counted = b.counted[1:]
	b.with(opLocalGet, l.counter)
	b.final(l)
	b.emit(opI32Ne)
	b.with(opBrIf, 1)
}

// chargeEach writes the charge of this place as often as a number says. It has few bits.
func (b *body) chargeEach(number func()) {
	if len(b.charges) == 0 || int(b.charges[0].at) != b.at {
		return
	}
	cost := b.charges[0].units()
	b.charges = b.charges[1:]
	b.get()
	number()
	if cost != 1 {
		b.i32(int64(cost))
		b.emit(opI32Mul)
	}
	b.emit(opI64ExtendI32U, opI64Sub)
	b.set()
}

// final puts the last value of the counter on the stack.
func (b *body) final(l *counting) {
	if l.last == none {
		b.i32(int64(l.value))
	} else {
		b.with(opLocalGet, l.last)
	}
}
