package meter

// This file writes the code that the meter adds to functions.

// emit appends instructions without an index.
func (b *body) emit(ops ...Opcode) {
	for _, op := range ops {
		b.out = append(b.out, byte(op))
	}
}

// with appends an instruction with an index.
func (b *body) with(op Opcode, index uint32) {
	b.out = appendU32(append(b.out, byte(op)), index)
}

func (b *body) i64(v int64) { b.out = appendSigned(append(b.out, byte(opI64Const)), v) }
func (b *body) i32(v int64) { b.out = appendSigned(append(b.out, byte(opI32Const)), v) }

// empty is the type of a block without parameters and results.
const empty = 0x40

// get puts what is left on the stack, and set takes it from there.
func (b *body) get() {
	if b.local {
		b.with(opLocalGet, b.left)
	} else {
		b.with(opGlobalGet, b.w.counter)
	}
}

func (b *body) set() {
	if b.local {
		b.with(opLocalSet, b.left)
	} else {
		b.with(opGlobalSet, b.w.counter)
	}
}

// save writes what is left to the global, before code that reads it there.
func (b *body) save() {
	if b.local {
		b.with(opLocalGet, b.left)
		b.with(opGlobalSet, b.w.counter)
	}
}

// load reads what is left from the global.
func (b *body) load() {
	if b.local {
		b.with(opGlobalGet, b.w.counter)
		b.with(opLocalSet, b.left)
	}
}

// subtract charges a cost.
func (b *body) subtract(cost uint32) {
	if cost == 0 {
		return
	}
	b.get()
	b.i64(int64(cost))
	b.emit(opI64Sub)
	b.set()
}

// due puts on the stack whether the guest must call the host.
func (b *body) due() {
	b.get()
	b.i64(0)
	b.emit(opI64LtS)
}

// check writes a safe point.
func (b *body) check() {
	b.due()
	b.emit(opIf, empty)
	b.save()
	b.with(opCall, b.w.safepoint)
	b.load()
	b.emit(opEnd)
}

// chargeHere writes the charge that belongs to the place that is read next, if there is one.
func (b *body) chargeHere() {
	if len(b.charges) > 0 && int(b.charges[0].at) == b.at {
		b.subtract(b.charges[0].cost)
		b.charges = b.charges[1:]
	}
}

// entry writes what a function begins with.
func (b *body) entry(checked bool) {
	b.load()
	if b.w.mechanism == Fuel || checked {
		b.chargeHere()
	} else {
		b.charges = b.charges[1:] // its callers have charged it
	}
	if checked {
		b.check()
		b.cost = 0
	}
}

// loop writes the head of a loop, whose type is the bytes given. A loop in which nothing takes long
// becomes two: a call in the inner loop would make the engine keep the loop's values in memory, so
// that the inner loop only looks, and the outer loop calls.
func (b *body) loop(blockType []byte, k uint8) (labels int32) {
	if k&(isLoop|repeats) != isLoop|repeats || b.dead {
		b.emit(opLoop)
		b.out = append(b.out, blockType...)
		return 1
	}
	b.cost = 0
	if !isLean(k) {
		b.emit(opLoop)
		b.out = append(b.out, blockType...)
		b.chargeHere()
		b.check()
		return 1
	}
	b.emit(opLoop)
	b.out = append(b.out, blockType...)
	b.check()
	b.emit(opLoop)
	b.out = append(b.out, blockType...)
	b.due()
	b.with(opBrIf, 1)
	b.chargeHere()
	return 2
}
