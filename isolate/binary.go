package isolate

import "encoding/binary"

// This file writes the part of WebAssembly's binary format (core specification 1.0, chapter 5) that
// policies need.

// Value types, and the type of a block without a value.
const (
	typeI32 byte = 0x7f
	typeI64 byte = 0x7e
	typeF64 byte = 0x7c
	noType  byte = 0x40
)

// Instructions, with the names of the specification.
const (
	opBlock  byte = 0x02
	opLoop   byte = 0x03
	opIf     byte = 0x04
	opElse   byte = 0x05
	opEnd    byte = 0x0b
	opBr     byte = 0x0c
	opBrIf   byte = 0x0d
	opReturn byte = 0x0f
	opDrop   byte = 0x1a
	opSelect byte = 0x1b

	opLocalGet byte = 0x20
	opLocalSet byte = 0x21
	opLocalTee byte = 0x22

	opI64Load  byte = 0x29
	opF64Load  byte = 0x2b
	opI64Store byte = 0x37

	opI32Const byte = 0x41
	opI64Const byte = 0x42
	opF64Const byte = 0x44

	opI32Eqz byte = 0x45
	opI32Eq  byte = 0x46
	opI32Ne  byte = 0x47
	opI64Eqz byte = 0x50
	opI64Eq  byte = 0x51
	opI64Ne  byte = 0x52
	opI64LtS byte = 0x53
	opI64LtU byte = 0x54
	opI64GtS byte = 0x55
	opI64LeS byte = 0x57
	opI64GeS byte = 0x59
	opF64Eq  byte = 0x61
	opF64Ne  byte = 0x62
	opF64Lt  byte = 0x63
	opF64Gt  byte = 0x64
	opF64Le  byte = 0x65
	opF64Ge  byte = 0x66

	opI32And  byte = 0x71
	opI32Shl  byte = 0x74
	opI64Add  byte = 0x7c
	opI64Sub  byte = 0x7d
	opI64Mul  byte = 0x7e
	opI64DivS byte = 0x7f
	opI64RemS byte = 0x81
	opI64And  byte = 0x83
	opI64Or   byte = 0x84
	opI64Xor  byte = 0x85
	opI64ShrS byte = 0x87
	opI64ShrU byte = 0x88
	opF64Neg  byte = 0x9a
	opF64Add  byte = 0xa0
	opF64Sub  byte = 0xa1
	opF64Mul  byte = 0xa2
	opF64Div  byte = 0xa3
	opF64Min  byte = 0xa4
	opF64Max  byte = 0xa5

	opI32WrapI64        byte = 0xa7
	opI64ExtendI32U     byte = 0xad
	opI64TruncF64S      byte = 0xb0
	opF64ConvertI64S    byte = 0xb9
	opI64ReinterpretF64 byte = 0xbd
)

// exportNames are the export names of a module's one function (kind 0) and one memory (kind 2).
var exportNames = [...]string{0: "policy", 2: "memory"}

// module encodes a module without imports: one memory of exactly the given number of pages, and one
// function "() -> i64" with the given locals and body, both exported.
func module(pages int, locals []byte, body []byte) []byte {
	m := []byte{0, 'a', 's', 'm', 1, 0, 0, 0}
	// Types: one, no parameters, one result.
	m = section(m, 1, []byte{1, 0x60, 0, 1, typeI64})
	m = section(m, 3, []byte{1, 0}) // functions: one, of type 0
	// Memories: one, minimum = maximum.
	m = section(m, 5, unsigned(unsigned([]byte{1, 1}, pages), pages))
	// Exports: function 0, memory 0.
	m = section(m, 7, export(export([]byte{2}, 0), 2))
	return section(m, 10, append([]byte{1}, sized(function(locals, body))...))
}

// section appends a section.
func section(m []byte, id byte, content []byte) []byte {
	return append(append(m, id), sized(content)...)
}

// export appends the export of the first function (kind 0) or the first memory (kind 2).
func export(b []byte, kind byte) []byte {
	name := exportNames[kind]
	return append(append(append(b, byte(len(name))), name...), kind, 0)
}

// function encodes locals and body. Locals are declared one by one; runs of one type would only be
// shorter.
func function(locals []byte, body []byte) []byte {
	f := unsigned(nil, len(locals))
	for _, t := range locals {
		f = append(f, 1, t)
	}
	return append(append(f, body...), opEnd)
}

// sized prefixes content with its length.
func sized(content []byte) []byte { return append(unsigned(nil, len(content)), content...) }

// unsigned appends n, which is not negative, in LEB128.
func unsigned(b []byte, n int) []byte { return binary.AppendUvarint(b, uint64(n)) }

// signed appends n in signed LEB128.
func signed(b []byte, n int64) []byte {
	for {
		low := byte(n & 0x7f)
		n >>= 7
		if n == 0 && low&0x40 == 0 || n == -1 && low&0x40 != 0 {
			return append(b, low)
		}
		b = append(b, low|0x80)
	}
}
