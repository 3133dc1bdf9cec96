package meter

// A body writes one function again, with its charges.
type body struct {
	code
	w       *writer
	out     []byte
	copied  int // the module's bytes are written up to here
	frames  []opened
	made    int      // number of constructs that were opened
	charges []charge // those to come
	labels  int32    // that are open in what is written
	cost    uint32   // a bound of what has run since the last safe point
	dead    bool     // this code is never reached
	local   bool
	left    uint32     // the local that has what is left
	deep    bool       // the function may be in a deep recursion
	told    bool       // a local says whether its entry has called the host
	called  uint32     // this local
	until   uint32     // the local at whose value of a loop's counter a block of iterations ends
	counted []counting // loops to come, and the one that is written
	entered bool       // it may have called another function by now
	copies  copies
}

// function writes a function after c has read its head, at the end of what is written.
func (w *writer) function(out []byte, c code) ([]byte, *Error) {
	s := &w.survey
	if err := s.look(w, c); err != nil {
		return nil, err
	}
	b := &body{w: w, code: c, out: out, copied: c.at, charges: s.charges, counted: s.counted, local: s.local, frames: w.opened[:0]}
	b.reserve(c.at - c.head)
	b.left = uint32(c.locals)
	b.until = b.left
	groups := c.groups
	if b.local {
		groups++
		b.until++
	}
	b.called = b.until
	if len(b.counted) > 0 {
		groups++
		b.called++
	}
	checked := w.flags[c.function]&checked != 0
	b.deep = checked && s.calls()
	w.places.begin(c.body, len(b.out))
	b.told = b.deep && s.tails
	if b.told {
		groups++
	}
	b.out = appendU32(b.out, uint32(groups))
	w.places.note(c.head, c.at-c.head, len(b.out))
	b.out = append(b.out, c.data[c.head:c.at]...)
	if b.local {
		b.out = append(b.out, 1, i64Type[0])
	}
	if len(b.counted) > 0 {
		b.out = append(b.out, 1, i32Type[0])
	}
	if b.told {
		b.out = append(b.out, 1, i32Type[0])
	}
	b.entry(checked)
	b.frames = append(b.frames, opened{})
	b.labels, b.made = 1, 1
	for b.more() {
		b.reserve(0)
		b.flushCharge()
		if charged := b.run(); charged || !b.more() {
			continue
		}
		if b.code.next(); b.err != nil {
			break
		}
		b.step()
	}
	if b.err != nil {
		return nil, b.err
	}
	b.flush(b.end)
	return b.out, nil
}

// flush copies what is read up to a place.
func (b *body) flush(to int) {
	if b.reserve(to - b.copied); b.err != nil {
		return
	}
	b.w.places.note(b.copied, to-b.copied, len(b.out))
	b.out = append(b.out, b.data[b.copied:to]...)
	b.copied = to
}

// room is more than what the meter writes for one instruction.
const room = 256

// reserve makes room for so many bytes and one instruction more. What is written grows in few
// steps, because a step needs memory for both.
func (b *body) reserve(n int) {
	if n += room; cap(b.out)-len(b.out) >= n {
		return
	}
	limit := 4*len(b.data) + 1<<16
	if len(b.out)+n > limit {
		b.fail(b.at, "the metered module would have more than four times the size: the code has very many loops, branches or tables")
		return
	}
	grown := make([]byte, len(b.out), min(limit, max(len(b.out)+n, 3*cap(b.out))))
	copy(grown, b.out)
	b.out = grown
}

// instead leaves out the instruction that was read; what replaces it is written next.
func (b *body) instead() {
	b.flush(b.start)
	b.copied = b.at
}

// flushCharge writes the charge of this place.
func (b *body) flushCharge() {
	if len(b.charges) > 0 && int(b.charges[0].at) == b.at {
		b.flush(b.at)
		b.chargeAndLook()
	}
}

// run reads simple instructions in one step, and reports whether a charge comes next.
func (b *body) run() (charged bool) {
	to := b.end
	if len(b.charges) > 0 {
		to = int(b.charges[0].at)
	}
	if b.dead {
		b.code.run(to, unlimited)
	} else {
		b.cost += b.code.run(to, most-b.cost)
	}
	return b.at == to && to < b.end
}

// step writes the instruction that was read.
func (b *body) step() {
	b.bound()
	if isSimple(b.op) {
		return
	}
	switch b.op {
	case opBlock, opLoop, opIf, opTryTable:
		b.begin()
	case opElse:
		f := &b.frames[len(b.frames)-1]
		cost := uint32(f.cost)
		b.join(f)
		b.cost, b.dead = cost, f.state&wasDead != 0
	case opEnd:
		b.finish()
	case opBr, opBrIf, opBrOnNull, opBrOnNonNull:
		b.branch()
	case opBrTable:
		b.table()
	case opReturn:
		b.exit()
		b.dead = true
	case opThrow, opThrowRef:
		b.leave()
		b.dead = true
	case opUnreachable:
		b.dead = true
	case opCall, opReturnCall, opCallIndirect, opReturnCallIndirect, opCallRef, opReturnCallRef:
		b.call()
	case opRefFunc:
		b.instead()
		b.with(opRefFunc, b.w.shift(b.first))
	default:
		if key := (bulk{b.op, b.first, b.two}); b.w.isBulk(&b.code) {
			b.instead()
			b.save()
			b.with(opCall, b.w.helper(key))
			b.load()
		}
	}
}
