package meter

// This file writes the safe points of the way back from deep recursions.

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

// enterAgain calls the host at the entry of a recursive function, and then the function itself,
// with the same parameters. So the function knows, without a local that it would keep during its
// calls, that it comes to another safe point when it returns. The inner call is charged what the
// outer one has been charged, and must not call the host again. A function with tail calls cannot
// do this: tail calls without end would need a stack without end.
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
