package meter

// bound counts what may run since the last safe point, and puts one before the instruction that was
// read if that is too much. So neither long code without a loop nor a tree of calls runs unchecked.
func (b *body) bound() {
	if b.dead {
		return
	}
	k := uint32(Cost(b.op))
	after := b.cost + k
	if after <= most && !b.w.isCall(b.op) {
		b.cost = after
		return
	}
	to := b.w.callee(&b.code)
	if to != none {
		after += b.w.graph.worst[to]
	}
	if entered := to != none && int(to) < len(b.w.flags) && b.w.flags[to]&checked != 0; entered {
		after = min(most, k+b.w.graph.worst[to])
	} else if after > most {
		b.flush(b.start)
		if b.w.mechanism == Epoch {
			b.subtract(b.cost)
		}
		b.check()
		after -= b.cost
	}
	b.cost = min(after, most)
}

// begin writes the head of a construct.
func (b *body) begin() {
	f := opened{label: b.labels}
	if b.dead {
		f.state = wasDead
	}
	switch b.op {
	case opIf:
		f.cost = uint16(b.cost)
	case opLoop:
		f.state |= wasLoop
		b.entered = true // by a later instruction, in an earlier iteration
		b.instead()
		if around := b.loop(b.data[b.immediate:b.at], b.w.survey.constructs[b.made]); around > 0 {
			f.state |= twofold
			f.label += around
			if b.w.survey.constructs[b.made]&counts != 0 {
				f.state |= blocks
			}
		}
	case opTryTable:
		b.tryTable()
	}
	b.made++
	b.labels = f.label + 1
	b.frames = append(b.frames, f)
}

// tryTable writes the labels of the catches, which see the construct from outside.
func (b *body) tryTable() {
	c := b.code
	c.at = c.immediate
	c.blockType()
	c.catches(func(label uint32, at int) {
		f := b.target(label)
		f.cost = most // an exception comes from anywhere
		b.relabel(label, at, c.at)
	})
}

// finish writes the end of a construct.
func (b *body) finish() {
	top := len(b.frames) - 1
	if b.copies.left > 0 && b.copies.frame == top {
		b.another(&b.frames[top])
		return
	}
	f := b.frames[top]
	if top == 0 {
		b.exit()
	}
	b.frames = b.frames[:top]
	b.labels = f.label
	if f.state&twofold != 0 {
		b.labels -= added
		b.flush(b.at)
		if f.state&blocks != 0 {
			b.nextBlock()
		}
		b.behind()
	}
	if f.state&wasLoop == 0 {
		b.join(&f)
		b.cost = uint32(f.cost)
	}
	b.dead = f.state&wasDead != 0
}

// join notes that this code leads to the end of a construct.
func (b *body) join(f *opened) {
	if !b.dead {
		f.cost = max(f.cost, uint16(b.cost))
	}
}

// target returns the frame of a label. The survey has found that it exists.
func (b *body) target(label uint32) *opened { return &b.frames[len(b.frames)-1-int(label)] }

// relabel writes a label that stands at a place of the module, and ends before another.
func (b *body) relabel(label uint32, at, end int) {
	if to := uint32(b.labels - 1 - b.target(label).label); to != label {
		b.flush(at)
		b.out = appendU32(b.out, to)
		b.copied = end
	}
}

// branch writes a branch to one label.
func (b *body) branch() {
	if int(b.first) == len(b.frames)-1 {
		b.exit()
	}
	to := b.target(b.first)
	if to.state&blocks != 0 {
		b.untilEnd()
	}
	b.join(to)
	b.relabel(b.first, b.immediate, b.at)
	b.dead = b.dead || b.op == opBr
}

// table writes a br_table.
func (b *body) table() {
	c := b.code
	c.at = c.immediate
	leaves := false
	for n := c.u32() + 1; n > 0; n-- {
		label := c.u32()
		leaves = leaves || int(label) == len(b.frames)-1
		b.join(b.target(label))
	}
	if leaves {
		b.exit()
	}
	c.at = c.immediate
	for n := c.u32() + 1; n > 0; n-- {
		at := c.at
		label := c.u32()
		b.relabel(label, at, c.at)
	}
	b.dead = true
}

// leave saves what is left before the instruction that was read, which may leave the function.
func (b *body) leave() {
	if b.local && !b.dead {
		b.flush(b.start)
		b.save()
	}
}

// call writes a call of any kind.
func (b *body) call() {
	silent := b.w.isSilent(&b.code)
	if !silent {
		b.leave()
	}
	b.entered = true
	if b.op == opCall || b.op == opReturnCall {
		if to := b.w.shift(b.first); to != b.first {
			b.instead()
			b.with(b.op, to)
		}
	}
	switch b.op {
	case opCall, opCallIndirect, opCallRef:
		if b.local && !b.dead && !silent {
			b.flush(b.at)
			b.load()
		}
	default:
		b.dead = true
	}
}
