package meter

import "math"

// Most instructions are simple and short, and most of the time of a pass would go into reading them
// one by one. So the passes read runs of them in one step.

// A stride is how a run of simple instructions goes over one of them.
type stride uint8

const (
	stops    stride = iota // the run ends: the instruction is not simple, or writes a global
	one                    // the opcode alone
	local                  // and the index of a local
	global                 // and the index of a global
	access                 // and alignment and offset
	constant               // and a signed number
	four                   // and so many bytes
	eight
)

// strides are of opcodes of one byte.
var strides = func() (s [256]stride) {
	of := map[form]stride{
		plain: one, aLocal: local, aGlobal: global, anAccess: access,
		signed5: constant, signed10: constant, fixed4: four, fixed8: eight,
	}
	for op := range Opcode(len(s)) {
		if isSimple(op) && op != opGlobalSet {
			s[op] = of[forms[op]]
		}
	}
	return s
}()

// unlimited is more than any run costs.
const unlimited = math.MaxUint32 >> 1

// run reads simple instructions while they end before a place and cost at most so much together,
// and returns their cost. It may end earlier: before an instruction that is long or wrong, which
// next reads.
func (c *code) run(to int, most uint32) (cost uint32) {
	data, at := c.data[:min(to, c.end)], c.at
	for at+2 < len(data) {
		b, first := data[at], data[at+1]
		k := uint32(costs[b])
		if cost+k > most {
			break
		}
		size := 0
		switch strides[b] {
		case one:
			size = 1
		case local:
			if first < 0x80 && uint64(first) < c.locals {
				size = 2
			}
		case global:
			if first < 0x80 && int(first) < c.m.globals {
				size = 2
			}
		case access:
			switch second := data[at+2]; {
			case (first|second)&0x80 == 0:
				size = 3
			case first < 0x80 && at+3 < len(data) && data[at+3] < 0x80:
				size = 4
			}
		case constant:
			switch second := data[at+2]; {
			case first < 0x80:
				size = 2
			case second < 0x80:
				size = 3
			case at+3 < len(data) && data[at+3] < 0x80:
				size = 4
			}
		case four:
			size = 5
		case eight:
			size = 9
		}
		if size == 0 || at+size > len(data) {
			break
		}
		cost += k
		at += size
	}
	c.at = at
	return cost
}
