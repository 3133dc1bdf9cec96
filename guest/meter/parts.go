package meter

// The locals of a function that does a bulk operation: the instruction's operands.
const (
	destination = iota
	source      // or a value
	length
)

// parts writes an operation on a range. A short one, and one that traps, is done at once. A long
// one is done in parts with a safe point before each, from the end if the ranges may overlap so.
func (b *body) parts(key bulk) {
	b.out = append(b.out, 0) // no locals
	memory := key.op == opMemoryCopy || key.op == opMemoryFill || key.op == opMemoryInit
	chunk := int64(chunkElements)
	if memory {
		chunk = chunkBytes
	}
	b.emit(opBlock, empty)
	b.with(opLocalGet, length)
	b.i32(chunk)
	b.emit(opI32LeU)
	b.with(opBrIf, 0)
	b.outside(destination, func() { b.size(key, memory, b.written(key)) })
	switch key.op {
	case opMemoryInit:
		b.outside(source, func() { b.i64(int64(b.w.datas[key.first])) })
	case opTableInit:
		b.outside(source, func() { b.i64(int64(b.w.elements[key.first])) })
	case opMemoryCopy, opTableCopy:
		b.outside(source, func() { b.size(key, memory, key.two) })
		b.with(opLocalGet, destination)
		b.with(opLocalGet, source)
		b.emit(opI32GtU, opIf, empty)
		b.backward(key, memory, chunk)
		b.emit(opElse)
		b.forward(key, memory, chunk)
		b.emit(opEnd, opEnd)
		b.last(key, memory)
		return
	}
	b.forward(key, memory, chunk)
	b.emit(opEnd)
	b.last(key, memory)
}

// written returns the index of the memory or table that the operation writes.
func (b *body) written(key bulk) uint32 {
	if key.op == opMemoryInit || key.op == opTableInit {
		return key.two
	}
	return key.first
}

// last does what is left to do.
func (b *body) last(key bulk, memory bool) {
	b.chargeLength(memory)
	b.with(opLocalGet, destination)
	b.with(opLocalGet, source)
	b.with(opLocalGet, length)
	b.operate(key)
	b.emit(opEnd)
}

// outside leaves the block if the range that starts at a local ends after the size.
func (b *body) outside(start uint32, size func()) {
	b.with(opLocalGet, start)
	b.emit(opI64ExtendI32U)
	b.with(opLocalGet, length)
	b.emit(opI64ExtendI32U, opI64Add)
	size()
	b.emit(opI64GtU)
	b.with(opBrIf, 0)
}

// chargeLength charges what is left to do, and writes a safe point.
func (b *body) chargeLength(memory bool) {
	b.get()
	b.with(opLocalGet, length)
	b.emit(opI64ExtendI32U)
	if memory {
		b.i64(ByteShift)
		b.emit(opI64ShrU)
	} else {
		b.i64(ElementCost)
		b.emit(opI64Mul)
	}
	b.emit(opI64Sub)
	b.set()
	b.check()
}

// part starts a loop in which each iteration does a part.
func (b *body) part(memory bool, chunk int64) {
	b.emit(opLoop, empty)
	if memory {
		b.subtract(uint32(chunk >> ByteShift))
	} else {
		b.subtract(uint32(chunk * ElementCost))
	}
	b.check()
}

// again ends the loop if the rest is short.
func (b *body) again(chunk int64) {
	b.with(opLocalGet, length)
	b.i32(chunk)
	b.emit(opI32GtU)
	b.with(opBrIf, 0)
	b.emit(opEnd)
}

// move adds to a local.
func (b *body) move(local uint32, by int64) {
	b.with(opLocalGet, local)
	b.i32(by)
	b.emit(opI32Add)
	b.with(opLocalSet, local)
}

func (b *body) forward(key bulk, memory bool, chunk int64) {
	b.part(memory, chunk)
	b.with(opLocalGet, destination)
	b.with(opLocalGet, source)
	b.i32(chunk)
	b.operate(key)
	b.move(destination, chunk)
	if key.op != opMemoryFill && key.op != opTableFill {
		b.move(source, chunk)
	}
	b.move(length, -chunk)
	b.again(chunk)
}

func (b *body) backward(key bulk, memory bool, chunk int64) {
	b.part(memory, chunk)
	b.move(length, -chunk)
	for local := range uint32(length) {
		b.with(opLocalGet, local)
		b.with(opLocalGet, length)
		b.emit(opI32Add)
	}
	b.i32(chunk)
	b.operate(key)
	b.again(chunk)
}

// grow writes memory.grow or table.grow with its charge. What certainly fails is charged nothing.
func (b *body) grow(key bulk) {
	b.out = append(b.out, 0) // no locals
	amount, shift, bound := uint32(0), int64(16-ByteShift), int64(1<<16)
	if key.op == opTableGrow {
		amount, shift, bound = 1, 0, 1<<27
	}
	b.emit(opBlock, empty)
	b.with(opLocalGet, amount)
	b.i32(bound)
	b.emit(opI32GtU)
	b.with(opBrIf, 0)
	b.get()
	b.with(opLocalGet, amount)
	b.emit(opI64ExtendI32U)
	b.i64(shift)
	b.emit(opI64Shl, opI64Sub)
	b.set()
	b.check()
	b.emit(opEnd)
	for local := range amount + 1 {
		b.with(opLocalGet, local)
	}
	b.operate(key)
	b.emit(opEnd)
}
