package meter

import "math"

// A code reads the instructions of one function body.
type code struct {
	reader
	m      *module
	locals uint64 // number of locals, parameters included
	groups int    // number of groups of locals
	body   int    // where the body starts
	head   int    // where the groups start

	// The instruction that next has read.
	op         Opcode
	form       form
	start      int    // of the instruction
	immediate  int    // of what follows the opcode
	first, two uint32 // indices, labels, alignment and offset; of a list of labels, its length
}

// open reads the head of a body: its size and its locals. The body's end is the reader's end.
func (m *module) open(f, at, end int) code {
	c := code{m: m}
	c.reader = reader{data: m.data, at: at, end: end, section: sectionNames[codeSection], function: f}
	size := int(c.u32())
	start := c.at
	c.skip(size)
	if c.err != nil {
		return c
	}
	c.at, c.end, c.body = start, start+size, start
	c.locals = uint64(m.params[m.functions[f]])
	c.groups = c.count("groups of locals")
	c.head = c.at
	for n := c.groups; n > 0 && c.err == nil; n-- {
		c.locals += uint64(c.u32())
		c.valueType()
	}
	if c.locals > math.MaxUint32-2 {
		c.fail(c.head, "%d locals are too many", c.locals)
	}
	return c
}

// next reads an instruction, and checks the indices that mean something else once the module has
// more functions, types, globals and locals.
func (c *code) next() {
	at := c.at
	c.start = at
	if at >= c.end {
		c.fail(at, "unexpected end")
		return
	}
	b := c.data[at]
	at++
	c.at, c.immediate = at, at
	c.op, c.form = Opcode(b), forms[b]
	if at+1 < c.end { // most instructions are short
		switch one, two := c.data[at], c.data[at+1]; c.form {
		case plain:
			return
		case aLocal:
			if one < 0x80 && uint64(one) < c.locals {
				c.first, c.at = uint32(one), at+1
				return
			}
		case aGlobal:
			if one < 0x80 && int(one) < c.m.globals {
				c.first, c.at = uint32(one), at+1
				return
			}
		case aLabel:
			if one < 0x80 {
				c.first, c.two, c.at = uint32(one), 0, at+1
				return
			}
		case aBlock:
			if one == empty {
				c.at = at + 1
				return
			}
		case anAccess:
			if one|two < 0x80 {
				c.at = at + 2
				return
			}
		case signed5:
			switch {
			case one < 0x80:
				c.at = at + 1
				return
			case two < 0x80:
				c.at = at + 2
				return
			}
		}
	}
	c.long(b)
}

// long reads what follows an opcode in any length.
func (c *code) long(b byte) {
	if c.form == aPrefix {
		c.op, c.form = prefixed(b, c.u32())
		c.immediate = c.at
	}
	switch c.form {
	case plain:
	case aLocal:
		c.first = c.u32()
		c.exists("local", uint64(c.first), c.locals)
	case anAccess, twoIndex:
		c.first, c.two = c.u32(), c.u32()
	case signed5:
		c.signed(5)
	case aLabel, aTag, aTable, anIndex:
		c.first, c.two = c.u32(), 0 // two is part of the name of a bulk operation
	case aBlock:
		c.blockType()
	case aFunction:
		c.first = c.u32()
		c.exists("function", uint64(c.first), uint64(len(c.m.functions)))
	case aGlobal:
		c.first = c.u32()
		c.exists("global", uint64(c.first), uint64(c.m.globals))
	case aType, aTypeAndTable:
		if c.first = c.u32(); c.form == aTypeAndTable {
			c.two = c.u32()
		}
		c.exists("type", uint64(c.first), uint64(len(c.m.params)))
	case aLane, aReserved:
		c.skip(1)
	case anAccessAndLane:
		c.u32()
		c.u32()
		c.skip(1)
	case signed10:
		c.signed(10)
	case fixed4, fixed8, fixed16:
		c.skip(4 << (c.form - fixed4))
	case aLabels:
		c.first = uint32(c.count("labels"))
		for range c.first {
			c.u32()
		}
		c.u32()
	case types:
		for range c.count("types") {
			c.valueType()
		}
	case heapType:
		c.heapType(c.m)
	case tryTable:
		c.blockType()
		c.catches(func(label uint32, at int) {})
	default:
		c.fail(c.start, "unknown instruction %#x", uint16(c.op))
	}
}

func (c *code) exists(what string, i, n uint64) {
	if i >= n && c.err == nil {
		c.fail(c.start, "%s %d does not exist", what, i)
	}
}

// blockType reads the type of a block.
func (c *code) blockType() {
	at := c.at
	switch t := c.signed(5); {
	case t == -29 || t == -28: // (ref null ht), (ref ht)
		c.heapType(c.m)
	case t >= int64(len(c.m.params)) && c.err == nil:
		c.fail(at, "type %d does not exist", t)
	}
}

// catches reads the clauses of a try_table: it calls the function with each label, and its place.
func (c *code) catches(do func(label uint32, at int)) {
	for n := c.count("catches"); n > 0 && c.err == nil; n-- {
		at := c.at
		kind := c.byte()
		if kind > 3 {
			c.fail(at, "unknown kind %d of a catch", kind)
		}
		if kind < 2 {
			c.u32()
		}
		at = c.at
		do(c.u32(), at)
	}
}
