package meter

import "strings"

// A bulk names an instruction that works on a length, with its indices, or one that waits or
// notifies, with its alignment and offset. The metered module calls a function of the meter's own
// in its place, which does a long operation in parts, and lets the host wait.
type bulk struct {
	op         Opcode
	first, two uint32
}

// use tells which operations of the code need functions of the meter.
type use struct {
	waits     bool            // some of them wait or notify
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
	case opNotify, opWait32, opWait64:
		return m.shared
	}
	return false
}

// note notes that the code uses a bulk instruction.
func (u *use) note(c *code) {
	if c.form == plain || !c.m.isBulk(c) {
		return
	}
	switch last := c.data[c.at-2 : c.at]; {
	case isWait(c.op):
		u.waits = true
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

// bulkType returns the type of the function that does the operation: it has the type of the
// instruction.
func (w *writer) bulkType(key bulk) string {
	switch key.op {
	case opNotify:
		return functionType(i32Type+i32Type, i32Type)
	case opWait32:
		return functionType(i32Type+i32Type+i64Type, i32Type)
	case opWait64:
		return functionType(i32Type+i64Type+i64Type, i32Type)
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
	case opNotify, opWait32, opWait64:
		b.wait(key)
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
