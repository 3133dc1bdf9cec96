package meter

// The parts of a survey that follow the constructs of a function: where they begin, branch and end.

// begin takes in the first instruction of a construct.
func (s *survey) begin(w *writer, c *code, region int32) int32 {
	top := len(s.frames)
	s.frames = append(s.frames, frame{construct: int32(len(s.constructs)), start: uint32(c.at), region: region, escape: int32(top), passed: everywhere})
	s.constructs = append(s.constructs, 0)
	switch c.op {
	case opLoop:
		s.constructs[len(s.constructs)-1] = isLoop
	case opTryTable:
		s.try = true
		at := *c
		at.at = at.immediate
		at.blockType()
		at.catches(func(label uint32, _ int) { s.branch(c, region, label+1, top) })
		return region
	case opBlock:
		return region
	}
	if region == dead {
		return dead
	}
	region = s.region(w, c, region, c.op == opLoop)
	if c.op == opIf {
		s.frames[top].passed = s.passed
	}
	return region
}

// otherwise takes in an else.
func (s *survey) otherwise(w *writer, c *code, region int32) int32 {
	f := &s.frames[len(s.frames)-1]
	was := f.passed
	s.join(region, f)
	s.passed = was
	if f.region == dead {
		return dead
	}
	return s.region(w, c, f.region, false)
}

// branch notes a branch to a label.
func (s *survey) branch(c *code, region int32, label uint32, top int) {
	if label > uint32(top) {
		c.fail(c.start, "label %d does not exist", label)
		return
	}
	to := top - int(label)
	if region == dead {
		return
	}
	s.constructs[s.frames[to].construct] |= repeats // of a loop; it means nothing for other frames
	if s.passed < int32(to) {
		s.constructs[s.frames[to].construct] |= open
	}
	s.frames[to].passed = min(s.frames[to].passed, s.passed)
	s.frames[top].escape = min(s.frames[top].escape, int32(to))
}

// end takes in the end of the innermost construct. The code after it belongs to the charge of the
// code before it, if it is certain that the construct comes to its end.
func (s *survey) end(w *writer, c *code, region int32) int32 {
	top := len(s.frames) - 1
	f := s.frames[top]
	s.frames = s.frames[:top]
	if top == 0 {
		return dead
	}
	up := &s.frames[top-1]
	up.escape = min(up.escape, f.escape)
	s.constructs[f.construct] |= sizeOf(c.start - int(f.start))
	k := s.constructs[f.construct]
	if isOpen(k) && isLean(k) && k&short != 0 && k&brief == 0 && f.escape >= int32(top) && !w.each {
		if l, ok := findCounted(*c, int(f.start)); ok {
			s.constructs[f.construct] |= counts
			s.counted = append(s.counted, l)
		}
	}
	if k&isLoop == 0 {
		s.join(region, &f)
		s.passed = min(f.passed, int32(top-1))
	} else {
		s.passed = min(s.passed, int32(top-1))
		if isOpen(k) {
			s.passed = int32(top - 1) // at its head
		}
	}
	if k&(isLoop|repeats) == isLoop|repeats {
		s.constructs[up.construct] |= nests
	}
	s.constructs[up.construct] |= k & (nests | calls)
	if f.region == dead || w.mechanism != Fuel || f.escape >= int32(top) {
		return f.region
	}
	return s.region(w, c, f.region, false)
}

// join notes that this code leads to the end of a construct.
func (s *survey) join(region int32, f *frame) {
	if region != dead {
		f.passed = min(f.passed, s.passed)
	}
}
