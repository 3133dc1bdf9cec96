package meter

// An Opcode is an instruction as its bytes in the binary format: one byte, or a prefix (0xfc, 0xfd,
// 0xfe) times 256 plus the number that follows it.
type Opcode uint16

// Instructions that the meter treats specially, or writes.
const (
	opUnreachable        Opcode = 0x00
	opNop                Opcode = 0x01
	opBlock              Opcode = 0x02
	opLoop               Opcode = 0x03
	opIf                 Opcode = 0x04
	opElse               Opcode = 0x05
	opThrow              Opcode = 0x08
	opThrowRef           Opcode = 0x0a
	opEnd                Opcode = 0x0b
	opBr                 Opcode = 0x0c
	opBrIf               Opcode = 0x0d
	opBrTable            Opcode = 0x0e
	opReturn             Opcode = 0x0f
	opCall               Opcode = 0x10
	opCallIndirect       Opcode = 0x11
	opReturnCall         Opcode = 0x12
	opReturnCallIndirect Opcode = 0x13
	opCallRef            Opcode = 0x14
	opReturnCallRef      Opcode = 0x15
	opDrop               Opcode = 0x1a
	opSelect             Opcode = 0x1b
	opTryTable           Opcode = 0x1f
	opLocalGet           Opcode = 0x20
	opLocalSet           Opcode = 0x21
	opLocalTee           Opcode = 0x22
	opGlobalGet          Opcode = 0x23
	opGlobalSet          Opcode = 0x24
	opMemorySize         Opcode = 0x3f
	opMemoryGrow         Opcode = 0x40
	opI32Const           Opcode = 0x41
	opI64Const           Opcode = 0x42
	opI32Eqz             Opcode = 0x45
	opI32LtU             Opcode = 0x49
	opI32GtU             Opcode = 0x4b
	opI32LeU             Opcode = 0x4d
	opI32Ne              Opcode = 0x47
	opI64Ne              Opcode = 0x52
	opI64LtS             Opcode = 0x53
	opI64GtU             Opcode = 0x56
	opI64GeS             Opcode = 0x59
	opI32Add             Opcode = 0x6a
	opI32Sub             Opcode = 0x6b
	opI32Mul             Opcode = 0x6c
	opI32And             Opcode = 0x71
	opI32Or              Opcode = 0x72
	opI32ShrU            Opcode = 0x76
	opI64Add             Opcode = 0x7c
	opI64Sub             Opcode = 0x7d
	opI64Mul             Opcode = 0x7e
	opI64Shl             Opcode = 0x86
	opI64ShrU            Opcode = 0x88
	opI64ExtendI32U      Opcode = 0xad
	opRefNull            Opcode = 0xd0
	opRefFunc            Opcode = 0xd2
	opBrOnNull           Opcode = 0xd5
	opBrOnNonNull        Opcode = 0xd6
	opMemoryInit         Opcode = 0xfc08
	opMemoryCopy         Opcode = 0xfc0a
	opMemoryFill         Opcode = 0xfc0b
	opTableInit          Opcode = 0xfc0c
	opTableCopy          Opcode = 0xfc0e
	opTableGrow          Opcode = 0xfc0f
	opTableSize          Opcode = 0xfc10
	opTableFill          Opcode = 0xfc11
	opV128Const          Opcode = 0xfd0c
	opNotify             Opcode = 0xfe00
	opWait32             Opcode = 0xfe01
	opWait64             Opcode = 0xfe02
	opI32AtomicLoad      Opcode = 0xfe10
	opI64AtomicLoad      Opcode = 0xfe11
)

// isSimple reports whether an instruction only computes, or reads or writes one place: no control,
// no call, nothing that takes long.
func isSimple(op Opcode) bool { return op >= opLocalGet && op <= 0xc4 && op != opMemoryGrow }

// A form is what follows an opcode.
type form uint8

const (
	unknown   form = iota
	plain          // nothing
	aBlock         // a block type
	aLabel         // a label
	aLabels        // labels and a default label
	aFunction      // an index, of a function, and so on
	aType
	aTag
	aLocal
	aGlobal
	aTable
	anIndex  // an index that stays as it is, and need not be looked at
	twoIndex // two of those
	aTypeAndTable
	anAccess // alignment and offset
	anAccessAndLane
	aLane
	fixed4 // so many bytes
	fixed8
	fixed16
	signed5 // a signed number of at most so many bytes
	signed10
	types     // value types
	heapType  // a heap type
	tryTable  // a block type and catches
	aPrefix   // the rest of the opcode
	aReserved // a zero byte
)

// forms are of opcodes of one byte.
var forms = func() (f [256]form) {
	set := func(first, last int, v form) {
		for i := first; i <= last; i++ {
			f[i] = v
		}
	}
	set(0x00, 0x01, plain)
	set(0x02, 0x04, aBlock)
	f[opElse], f[opThrow], f[opThrowRef], f[opEnd] = plain, aTag, plain, plain
	set(0x0c, 0x0d, aLabel)
	f[opBrTable], f[opReturn] = aLabels, plain
	f[opCall], f[opCallIndirect] = aFunction, aTypeAndTable
	f[opReturnCall], f[opReturnCallIndirect] = aFunction, aTypeAndTable
	f[opCallRef], f[opReturnCallRef] = aType, aType
	set(0x1a, 0x1b, plain) // drop, select
	f[0x1c], f[opTryTable] = types, tryTable
	set(0x20, 0x22, aLocal)
	set(0x23, 0x24, aGlobal)
	set(0x25, 0x26, aTable)
	set(0x28, 0x3e, anAccess)
	set(0x3f, 0x40, anIndex)
	f[0x41], f[0x42], f[0x43], f[0x44] = signed5, signed10, fixed4, fixed8
	set(0x45, 0xc4, plain)
	f[opRefNull], f[0xd1], f[opRefFunc], f[0xd4] = heapType, plain, aFunction, plain
	f[opBrOnNull], f[opBrOnNonNull] = aLabel, aLabel
	set(0xfc, 0xfe, aPrefix)
	return f
}()

// miscForms are of opcodes after 0xfc.
var miscForms = [...]form{
	plain, plain, plain, plain, plain, plain, plain, plain, // conversions that saturate
	twoIndex, anIndex, twoIndex, anIndex, // memory.init, data.drop, memory.copy, memory.fill
	// table.init, elem.drop, .copy, .grow, .size, .fill
	twoIndex, anIndex, twoIndex, anIndex, anIndex, anIndex,
}

// vectorForms are of opcodes after 0xfd.
var vectorForms = func() (f [256]form) {
	for i := range f {
		f[i] = plain
	}
	for i := 0x00; i <= 0x0b; i++ {
		f[i] = anAccess
	}
	f[0x0c], f[0x0d] = fixed16, fixed16
	for i := 0x15; i <= 0x22; i++ {
		f[i] = aLane
	}
	for i := 0x54; i <= 0x5b; i++ {
		f[i] = anAccessAndLane
	}
	f[0x5c], f[0x5d] = anAccess, anAccess
	for _, i := range []int{0x9a, 0xa2, 0xa5, 0xa6, 0xaf, 0xb0, 0xb2, 0xb3, 0xb4, 0xbb, 0xc2, 0xc5, 0xc6, 0xcf, 0xd0, 0xd2, 0xd3, 0xd4, 0xe2, 0xee} {
		f[i] = unknown
	}
	return f
}()

// atomicForm is the form of an opcode after 0xfe.
func atomicForm(n uint32) form {
	switch {
	case n <= 0x02, 0x10 <= n && n <= 0x4e:
		return anAccess
	case n == 0x03:
		return aReserved
	}
	return unknown
}

// prefixed returns the opcode with this prefix and number, and its form.
func prefixed(prefix byte, n uint32) (Opcode, form) {
	f := unknown
	switch {
	case n > 0xff:
	case prefix == 0xfc && int(n) < len(miscForms):
		f = miscForms[n]
	case prefix == 0xfd:
		f = vectorForms[n]
	case prefix == 0xfe:
		f = atomicForm(n)
	}
	return Opcode(prefix)<<8 | Opcode(n&0xff), f
}
