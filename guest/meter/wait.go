package meter

import "slices"

// The engine's memory.atomic.wait stops the goroutine of the call: the host could run no other
// thread of the instance, and could not end the wait. So a module with shared memory calls the host
// instead, after an atomic load, which traps as the instruction does.

// A hostFunction is a function of the host that metered modules import.
type hostFunction struct{ name, signature string }

// imports returns the functions of the host that the module imports, in their order.
func (w *writer) imports() []hostFunction {
	list := []hostFunction{{Safepoint, functionType("", "")}}
	if w.use.waits {
		list = append(list, hostFunction{Wait, functionType(i32Type+i64Type+i64Type+i32Type, i32Type)},
			hostFunction{Notify, functionType(i32Type+i32Type, i32Type)})
	}
	if w.mechanism == Fuel && slices.ContainsFunc(w.flags, func(f uint8) bool { return f&checked != 0 }) {
		list = append(list, hostFunction{Back, functionType("", "")}) // the last one: see body.wayBack
	}
	return list
}

// isWait reports whether an instruction waits in shared memory, or notifies threads that do.
func isWait(op Opcode) bool { return opNotify <= op && op <= opWait64 }

// wait writes an instruction that waits or notifies: it calls the host with the address and the
// other operands. If the value differs already, a wait needs no call.
func (b *body) wait(key bulk) {
	const address, second, timeout = 0, 1, 2
	b.out = append(b.out, 0) // no locals
	b.with(opLocalGet, address)
	load := opI32AtomicLoad
	if key.op == opWait64 {
		load = opI64AtomicLoad
	}
	b.out = append(b.out, byte(load>>8), byte(load&0xff))
	b.out = appendU32(appendU32(b.out, key.first), key.two)
	switch key.op {
	case opNotify:
		b.emit(opDrop)
		b.effective(key)
		b.with(opLocalGet, second)
		b.with(opCall, b.w.safepoint+2)
	case opWait32:
		b.expect(second, opI32Ne)
		b.effective(key)
		b.with(opLocalGet, second)
		b.emit(opI64ExtendI32U)
		b.with(opLocalGet, timeout)
		b.i32(4)
		b.with(opCall, b.w.safepoint+1)
	case opWait64:
		b.expect(second, opI64Ne)
		b.effective(key)
		b.with(opLocalGet, second)
		b.with(opLocalGet, timeout)
		b.i32(8)
		b.with(opCall, b.w.safepoint+1)
	}
	b.emit(opEnd)
}

// expect returns 1 if the value that was loaded is not the expected one.
func (b *body) expect(value uint32, differ Opcode) {
	b.with(opLocalGet, value)
	b.emit(differ, opIf, empty)
	b.i32(1)
	b.emit(opReturn, opEnd)
}

// effective puts the address with its offset on the stack. The load has found that it exists.
func (b *body) effective(key bulk) {
	b.with(opLocalGet, 0)
	b.i32(int64(int32(key.two)))
	b.emit(opI32Add)
}
