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

// chargeHere writes the charge that belongs to the place that is read next, if there is one.
func (b *body) chargeHere() {
	if len(b.charges) > 0 && int(b.charges[0].at) == b.at {
		c := b.charges[0]
		b.charges = b.charges[1:]
		b.subtract(c.units())
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
