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
	if b.w.mechanism == Epoch {
		// longer code has more safe points, and each charges what is before it
		cost = min(cost, most)
	}
	b.get()
	b.i64(int64(cost))
	b.emit(opI64Sub)
	b.set()
}

// due puts on the stack the result of comparing what is left with 0.
func (b *body) due(compare Opcode) {
	b.get()
	b.i64(0)
	b.emit(compare)
}

// check writes a safe point. The call stands in the second branch: wazero keeps values in the
// registers in which the first branch leaves them.
func (b *body) check() {
	b.due(opI64GeS)
	b.emit(opIf, empty, opElse)
	b.callHost()
	b.emit(opEnd)
}

// callHost calls the host.
func (b *body) callHost() {
	b.save()
	b.with(opCall, b.w.safepoint)
	b.load()
}

// exit writes what a function ends with, before the instruction that was read. The return from a
// deep recursion would pass no safe point. Therefore a recursive function that has called the host
// at its entry comes to another safe point when it returns: between two such functions lies no more
// than what one slice entered. enterAgain does this, and in a function with tail calls, exit.
func (b *body) exit() {
	if b.told && b.entered && !b.dead {
		b.flush(b.start)
		b.with(opLocalGet, b.called)
		b.emit(opIf, empty)
		b.i32(0)
		b.with(opLocalSet, b.called)
		b.wayBack()
		b.emit(opEnd)
	}
	b.leave()
}

// wayBack writes the safe point of the way back. With fuel, the code of the way back is charged
// already, so that there is nothing to compare.
func (b *body) wayBack() {
	if b.w.mechanism == Epoch {
		b.subtract(most)
		b.check()
		return
	}
	b.save()
	b.with(opCall, b.w.safepoint+uint32(b.w.hosts)-1)
	b.load()
}

// enterAgain calls the host at the entry of a recursive function, and then the function itself, with the
// same parameters. So the function knows, without a local that it would keep during its calls, that
// it comes to another safe point when it returns. The inner call is charged what the outer one has
// been charged, and must not call the host again. A function with tail calls cannot do this: tail
// calls without end would need a stack without end.
func (b *body) enterAgain(charged uint32) {
	b.callHost()
	b.get()
	b.i64(0)
	b.due(opI64GeS)
	b.emit(opSelect)
	if b.w.mechanism == Epoch {
		charged = min(charged, most)
	}
	b.i64(int64(charged))
	b.emit(opI64Add)
	b.set()
	b.save()
	b.reserve(4 * int(b.w.params[b.w.functions[b.function]]))
	for i := range b.w.params[b.w.functions[b.function]] {
		b.with(opLocalGet, i)
	}
	b.with(opCall, b.w.shift(uint32(b.function)))
	b.load()
	b.wayBack()
	b.save()
	b.emit(opReturn)
}

// chargeHere writes the charge that belongs to the place that is read next, if there is one.
func (b *body) chargeHere() {
	if len(b.charges) > 0 && int(b.charges[0].at) == b.at {
		c := b.charges[0]
		b.charges = b.charges[1:]
		b.subtract(c.units())
	}
}

// chargeAndLook is chargeHere with a safe point where a recursive function may be on its way back:
// otherwise a deep recursion would be charged much on its way back without a look.
func (b *body) chargeAndLook() {
	if len(b.charges) == 0 || int(b.charges[0].at) != b.at {
		return
	}
	c := b.charges[0]
	b.chargeHere()
	if b.w.mechanism == Fuel && b.deep && b.entered && c.cost&meets == 0 && c.cost != 0 {
		b.check()
	}
}

// entry writes what a function begins with.
func (b *body) entry(checked bool) {
	b.load()
	b.charges[0].cost -= b.w.paid(uint32(b.function))
	charged := b.charges[0].units()
	if b.w.mechanism == Fuel || checked {
		b.chargeHere()
	} else {
		b.charges = b.charges[1:] // its callers have charged it
	}
	if checked {
		b.due(opI64GeS)
		b.emit(opIf, empty, opElse)
		switch {
		case b.told:
			b.callHost()
			b.i32(1)
			b.with(opLocalSet, b.called)
		case b.deep:
			b.enterAgain(charged)
		default:
			b.callHost()
		}
		b.emit(opEnd)
		b.cost = 0
	}
}

// light is a small cost, compared with a call that has a safe point.
const light = 64

// loopCharge charges an iteration of a loop that has no safe point of its own, because it calls a
// function that has one. Epochs leave out what is small in comparison.
func (b *body) loopCharge() {
	if b.w.mechanism == Epoch && len(b.charges) > 0 && int(b.charges[0].at) == b.at && b.charges[0].cost <= light {
		b.charges = b.charges[1:]
	}
	b.chargeAndLook()
}

// loop writes the head of a loop of the given type. A loop with a safe point becomes two:
//
//	block $exit
//	  loop $outer
//	    block $look
//	      loop
//	        br_if $look if nothing is left
//	        charge
//	        the loop's code
//	      end
//	      br $exit
//	    end
//	    call the host
//	    br $outer
//	  end
//	end
//
// So the call of the host is placed after the loop's code. In the loop, or on the way to it, the
// call would make the engine keep the loop's values in memory. loop returns how many constructs
// then stand around the loop's code.
func (b *body) loop(blockType []byte, k uint8) (around int32) {
	head := func(op Opcode) { b.out = append(append(b.out, byte(op)), blockType...) }
	switch {
	case k&(isLoop|repeats) != isLoop|repeats || b.dead:
		head(opLoop)
		return 0
	case !isOpen(k):
		head(opLoop)
		b.loopCharge()
		return 0
	}
	b.cost = 0
	if b.w.takes(blockType) {
		head(opLoop)
		b.chargeHere()
		b.check()
		return 0
	}
	head(opBlock)
	head(opLoop)
	b.emit(opBlock, empty)
	if k&counts != 0 {
		b.due(opI64LtS)
		b.with(opBrIf, 0)
		b.block(&b.counted[0])
		b.cost = blockUnits
		head(opLoop)
		return added
	}
	head(opLoop)
	b.due(opI64LtS)
	b.with(opBrIf, 1)
	return added + b.iterate(k)
}

// behind writes the code that follows a loop that became two.
func (b *body) behind() {
	b.with(opBr, 2)
	b.emit(opEnd)
	b.callHost()
	b.with(opBr, 0)
	b.emit(opEnd, opEnd)
}
