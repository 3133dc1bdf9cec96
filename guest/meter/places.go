package meter

import "sort"

// places tell where the module's code stands in the metered code section. Debug information needs
// them, and without it they are nil and note nothing. All offsets count from the start of the code
// section's content, as in debug information.
type places struct {
	code     int                 // the module's code section starts here
	copies   [mostCopies][]place // of the code; after the first: of loops that are written several times
	latest   int                 // the place that of has found last
	limit    int                 // of places: small code cannot ask for much memory
	function int                 // the function that is written starts here in what is written
	first    [mostCopies]int     // its first places, by copy
	noted    int                 // places
	last     int                 // the copy that the last place is of
	full     bool                // places are missing
}

// A place is code that was copied in one piece. Between two places the meter has replaced an
// instruction, or added code.
type place struct {
	from, to, size uint32
	head           bool // a copy of a loop's code starts here
}

func (p *place) end() uint32 { return p.from + p.size }

// begin begins a function whose body starts at a place in the module, and at another in what is
// written.
func (p *places) begin(from, at int) {
	if p == nil {
		return
	}
	p.function, p.last = at, 0
	for i := range p.copies {
		p.first[i] = len(p.copies[i])
	}
	p.note(from, 0, at)
}

// note notes that n bytes at a place in the module were written at another place.
func (p *places) note(from, n, at int) {
	if p == nil {
		return
	}
	if p.noted++; p.noted > p.limit {
		p.full = true
		return
	}
	next := place{from: uint32(from - p.code), to: uint32(at - p.function), size: uint32(n)}
	// the copies of a loop follow one another, and none is longer than the first
	k := 0
	for ; k < mostCopies-1; k++ {
		if i := len(p.copies[k]); i == p.first[k] || next.from >= p.copies[k][i-1].end() {
			break
		}
	}
	next.head = k > 0 && k != p.last
	p.last = k
	list := p.copies[k]
	i := len(list)
	if i > p.first[k] && !next.head {
		if last := &list[i-1]; next.from >= last.end() && next.to-last.to == next.from-last.from {
			last.size = next.end() - last.from
			p.noted--
			return
		}
	}
	if i == cap(list) {
		list = make([]place, i, min(max(2*i, 64), p.limit))
		copy(list, p.copies[k])
	}
	p.copies[k] = append(list, next)
}

// finish ends the function, which starts at this offset in the metered code section.
func (p *places) finish(at int) {
	if p == nil {
		return
	}
	for i, list := range p.copies {
		for j := p.first[i]; j < len(list); j++ {
			list[j].to += uint32(at)
		}
	}
}

// of returns the offset of the code that has this offset in the module. Code that the meter added
// before it belongs to the code before.
func (p *places) of(from uint32) uint32 {
	i, list := p.latest, p.copies[0]
	if i >= len(list) || from < list[i].from || i+1 < len(list) && from >= list[i+1].from {
		i = sort.Search(len(list), func(i int) bool { return list[i].from > from }) - 1
		if i < 0 {
			return from // in front of all functions
		}
		p.latest = i
	}
	l := &list[i]
	return l.to + min(from-l.from, l.size)
}

// repeated returns the offset at which the code stands in another copy of a loop, and the first
// place of this copy.
func (p *places) repeated(copy int, from uint32) (to uint32, head *place) {
	list := p.copies[copy]
	i := sort.Search(len(list), func(i int) bool { return list[i].from > from }) - 1
	if i < 0 {
		return 0, nil
	}
	l := &list[i]
	// the end of the last place of a loop is behind the loop
	inside := from < l.end() || from == l.end() && i+1 < len(list) && !list[i+1].head
	if !inside {
		return 0, nil
	}
	for !list[i].head {
		i--
	}
	return l.to + min(from-l.from, l.size), &list[i]
}
