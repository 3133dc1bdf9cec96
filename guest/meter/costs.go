package meter

// Cost returns what one instruction costs in fuel. Instructions that only give code its form (nop,
// block, loop, else, end) and unreachable cost nothing. Any other costs at least 1, about the time
// of an addition. An instruction that works on a length costs its own Cost and, in addition, what
// ByteShift and ElementCost say. Cost returns 1 for opcodes that do not exist.
func Cost(op Opcode) int64 {
	if op <= 0xff {
		return int64(costs[op])
	}
	return prefixedCost(op)
}

// Costs that depend on more than the opcode.
const (
	// A bulk instruction on memory costs one more for each 1<<ByteShift bytes, rounded down. So
	// does memory.grow, for the bytes of the new pages.
	ByteShift = 4
	// A bulk instruction on a table and table.grow cost this more for each element.
	ElementCost = 1
	// A direct call of an imported function costs this more: a call of the host takes 0.1 µs and
	// up. What the host does is not charged. Calls of imported functions through tables and
	// references cost what other such calls do.
	HostCost = 200
)

// costs are of opcodes of one byte.
var costs = func() (c [256]uint8) {
	for i := range c {
		c[i] = 1
	}
	for _, op := range []Opcode{opUnreachable, opNop, opBlock, opLoop, opElse, opEnd} {
		c[op] = 0
	}
	for op, cost := range map[Opcode]uint8{
		opThrow: 100, opThrowRef: 100, opTryTable: 20,
		opCall: 3, opReturnCall: 3, opCallRef: 4, opReturnCallRef: 4,
		opCallIndirect: 6, opReturnCallIndirect: 6,
		opMemoryGrow: 100, opRefFunc: 20,
		0x91: 4, 0x95: 4, 0x9f: 4, 0xa3: 4, // square roots and divisions of floats
	} {
		c[op] = cost
	}
	for op := 0x6d; op <= 0x70; op++ { // i32: div_s to rem_u
		c[op] = 8
	}
	for op := 0x7f; op <= 0x82; op++ { // i64
		c[op] = 8
	}
	for op := 0xa8; op <= 0xb1; op++ { // conversions that trap
		c[op] = 3
	}
	c[0xac], c[0xad] = 1, 1 // i64.extend_i32
	return c
}()

func prefixedCost(op Opcode) int64 {
	switch {
	case 0xfc00 <= op && op <= 0xfc07: // conversions that saturate
		return 3
	case op == opTableGrow:
		return 100
	case opMemoryInit <= op && op <= opTableFill:
		return 10
	case 0xfe00 <= op && op <= 0xfe02: // wait and notify
		return 100
	case op>>8 == 0xfe:
		return 8
	case op == 0xfde3, op == 0xfdef, op == 0xfde7, op == 0xfdf3: // square roots and divisions
		return 4
	}
	return 1
}
