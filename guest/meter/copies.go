package meter

// A loop with little code looks only in every second iteration, and one with very little in every
// fourth: its code is written so often, and the first copy alone looks. An iteration that continues
// leaves a block, after which the next copy stands:
//
//	loop $loop
//	  look, charge
//	  block $next
//	    the loop's code, in which the label of the loop is $next
//	    br $exit
//	  end
//	  charge
//	  the loop's code
//	end
//
// With epochs all these iterations are charged in the first, and with fuel each one.

// copies is the loop whose code is written several times. It has no loop in it that repeats, so
// there is at most one in a place.
type copies struct {
	left    int      // copies that follow the present one
	frame   int      // the loop's
	at      int      // the place of the loop's first instruction
	made    int      // body.made there
	charges []charge // body.charges there
	cost    uint32   // of the charge at the begin of an iteration
}

// shortSize is the size of code that is written twice, in bytes. Larger code takes so long that a
// look hardly matters. With four copies of it, a product of matrices took a tenth longer.
const shortSize = 512

// Code of at most briefSize bytes is written mostCopies times.
const (
	briefSize  = 64
	mostCopies = 4
)

// sizeOf returns the bits of a construct with so many bytes of code.
func sizeOf(bytes int) uint8 {
	switch {
	case bytes <= briefSize:
		return short | brief
	case bytes <= shortSize:
		return short
	}
	return 0
}

// copiesOf returns how often the code of a loop is written. It is once where the module grows much
// already.
func (b *body) copiesOf(k uint8) int {
	if !isLean(k) || k&short == 0 || b.w.each || len(b.out) > 2*b.at+1<<14 {
		return 1
	}
	if k&brief != 0 {
		return mostCopies
	}
	return 2
}

// iterate begins the first iteration of a loop that has looked. It returns how many constructs it opens.
func (b *body) iterate(k uint8) (opened int32) {
	c := copies{left: b.copiesOf(k) - 1, frame: len(b.frames), at: b.at, made: b.made + 1}
	if len(b.charges) > 0 && int(b.charges[0].at) == b.at {
		if c.cost = b.charges[0].units(); b.w.mechanism == Epoch {
			b.charges[0].cost *= uint32(c.left + 1)
			c.cost = 0
		}
	}
	b.chargeHere()
	c.charges = b.charges
	if b.copies = c; c.left == 0 {
		return 0
	}
	b.emit(opBlock, empty)
	return 1
}

// another ends a copy of the loop of frame f, and begins the next one.
func (b *body) another(f *opened) {
	c := &b.copies
	b.instead()
	b.with(opBr, added+1) // even in code that is never reached: it takes values from the stack
	b.emit(opEnd)
	b.at, b.copied, b.made, b.charges = c.at, c.at, c.made, c.charges
	b.cost, b.dead = max(b.cost, uint32(f.cost)), false
	b.subtract(c.cost)
	if c.left--; c.left > 0 {
		b.emit(opBlock, empty)
		return
	}
	f.label-- // the last copy's iteration goes on at the loop's head
	b.labels = f.label + 1
}
