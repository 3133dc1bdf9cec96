package meter

import "strings"

// A bulk names an instruction that works on a length, with its indices. The metered module calls a
// function of the meter's own in its place, which does a long operation in parts.
type bulk struct {
	op         Opcode
	first, two uint32
}

// use is what the code uses that needs functions of the meter's own.
type use struct {
	functions map[bulk]uint32 // the place in keys for each
	keys      []bulk
}

// isBulk reports whether the instruction needs a function of the meter's own.
func (m *module) isBulk(c *code) bool {
	switch c.op {
	case opMemoryCopy, opMemoryFill, opTableCopy, opTableFill, opMemoryGrow, opTableGrow:
		return true
	case opMemoryInit:
		return int(c.first) < len(m.datas)
	case opTableInit:
		return int(c.first) < len(m.elements)
	}
	return false
}

// note notes that the code uses a bulk instruction.
func (u *use) note(c *code) {
	if !c.m.isBulk(c) {
		return
	}
	switch last := c.data[c.at-2 : c.at]; {
	case c.op == opTableCopy || c.op == opTableFill || c.op == opTableGrow || c.op == opTableInit:
	case last[1] != 0 || last[0] >= 0x80 || c.op == opMemoryCopy && last[0] != 0:
		c.fail(c.immediate, "the index of the memory must be one byte, 0")
		return
	}
	key := bulk{c.op, c.first, c.two}
	if _, ok := u.functions[key]; ok {
		return
	}
	if u.functions == nil {
		u.functions = map[bulk]uint32{}
	}
	u.functions[key] = uint32(len(u.keys))
	u.keys = append(u.keys, key)
}

// A long operation is done in parts of this size.
const (
	chunkBytes    = 256 << 10
	chunkElements = 32 << 10
)

// types of values in the binary format.
const (
	i32Type = "\x7f"
	i64Type = "\x7e"
)

// bulkType returns the type of the function that does the operation: that of the instruction.
func (w *writer) bulkType(key bulk) string {
	switch key.op {
	case opMemoryGrow:
		return functionType(i32Type, i32Type)
	case opTableGrow:
		return concat("\x60\x02", w.element(key.first), i32Type, "\x01", i32Type)
	case opTableFill:
		return concat("\x60\x03", i32Type, w.element(key.first), i32Type, "\x00")
	}
	return functionType(i32Type+i32Type+i32Type, "")
}

// element returns the type of a table's elements, or another if there is no such table: the engine
// refuses the instruction then.
func (w *writer) element(table uint32) string {
	if int(table) < len(w.tables) {
		return string(w.tables[table])
	}
	return "\x70"
}

func concat(parts ...string) string { return strings.Join(parts, "") }

// bulkBody writes the body of the function that does an operation.
func (w *writer) bulkBody(out []byte, key bulk) []byte {
	b := &body{w: w, out: out}
	switch key.op {
	case opMemoryGrow, opTableGrow:
		b.grow(key)
	default:
		b.parts(key)
	}
	return b.out
}

// operate writes the instruction itself.
func (b *body) operate(key bulk) {
	if key.op == opMemoryGrow {
		b.with(opMemoryGrow, key.first)
		return
	}
	b.out = appendU32(append(b.out, byte(key.op>>8)), uint32(key.op&0xff))
	b.out = appendU32(b.out, key.first)
	switch key.op {
	case opMemoryInit, opMemoryCopy, opTableInit, opTableCopy:
		b.out = appendU32(b.out, key.two)
	}
}

// size puts the size of what an operation writes or reads on the stack, as an i64.
func (b *body) size(key bulk, memory bool, index uint32) {
	if memory {
		b.with(opMemorySize, index)
		b.emit(opI64ExtendI32U)
		b.i64(16)
		b.emit(opI64Shl)
		return
	}
	b.out = append(b.out, 0xfc, byte(opTableSize&0xff))
	b.out = appendU32(b.out, index)
	b.emit(opI64ExtendI32U)
}

// The locals of a function that does a bulk operation: the instruction's operands.
const (
	destination = iota
	source      // or a value
	length
)

// parts writes an operation on a range. A short one, and one that traps, is done at once. A long one
// is done in parts with a safe point before each, from the end if the ranges may overlap so.
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

// part starts a loop in which each turn does a part.
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
