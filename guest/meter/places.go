package meter

import "sort"

// places tell where the module's code stands in the metered code section. Debug information needs
// them, and without it they are nil and note nothing. All offsets count from the start of the code
// section's content, as those of debug information do.
type places struct {
	code     int // the module's code section starts here
	list     []place
	again    []place // what stands there a second time: loops of which the code is written twice
	latest   int     // the place that of has found last
	limit    int     // of places: small code cannot ask for much memory
	function int     // the function that is written starts here in what is written
	first    [2]int  // its first places, in both lists
	second   bool    // the last place is in again
	full     bool    // places are missing
}

// A place is code that was copied in one piece. Between two places the meter has replaced an
// instruction, or added code.
type place struct {
	from, to, size uint32
	head           bool // a loop's code starts here for the second time
}

func (p *place) end() uint32 { return p.from + p.size }

// begin begins a function whose body starts at a place in the module, and at another in what is
// written.
func (p *places) begin(from, at int) {
	if p == nil {
		return
	}
	p.function, p.first = at, [2]int{len(p.list), len(p.again)}
	p.note(from, 0, at)
}

// note notes that n bytes at a place in the module were written at another place.
func (p *places) note(from, n, at int) {
	if p == nil {
		return
	}
	if len(p.list)+len(p.again) >= p.limit {
		p.full = true
		return
	}
	next := place{from: uint32(from - p.code), to: uint32(at - p.function), size: uint32(n)}
	list, first := &p.list, p.first[0]
	if i := len(p.list); i > first && next.from < p.list[i-1].end() {
		list, first = &p.again, p.first[1]
		next.head = !p.second
		p.second = true
	} else {
		p.second = false
	}
	if i := len(*list); i > first && !next.head {
		if last := &(*list)[i-1]; next.from >= last.end() && next.to-last.to == next.from-last.from {
			last.size = next.end() - last.from
			return
		}
	}
	if i := len(*list); i == cap(*list) {
		grown := make([]place, i, min(max(2*i, 64), p.limit))
		copy(grown, *list)
		*list = grown
	}
	*list = append(*list, next)
}

// finish ends the function, which starts at this offset in the metered code section.
func (p *places) finish(at int) {
	if p == nil {
		return
	}
	for i, list := range [][]place{p.list, p.again} {
		for j := p.first[i]; j < len(list); j++ {
			list[j].to += uint32(at)
		}
	}
}

// of returns the offset of the code that has this offset in the module. Code that the meter added
// before it belongs to the code before.
func (p *places) of(from uint32) uint32 {
	i := p.latest
	if i >= len(p.list) || from < p.list[i].from || i+1 < len(p.list) && from >= p.list[i+1].from {
		i = sort.Search(len(p.list), func(i int) bool { return p.list[i].from > from }) - 1
		if i < 0 {
			return from // in front of all functions
		}
		p.latest = i
	}
	l := &p.list[i]
	return l.to + min(from-l.from, l.size)
}

// repeated returns the offset at which the code stands a second time, and the loop's first place.
func (p *places) repeated(from uint32) (to uint32, head *place) {
	i := sort.Search(len(p.again), func(i int) bool { return p.again[i].from > from }) - 1
	if i < 0 {
		return 0, nil
	}
	l := &p.again[i]
	// the end of the last place of a loop is behind the loop
	inside := from < l.end() || from == l.end() && i+1 < len(p.again) && !p.again[i+1].head
	if !inside {
		return 0, nil
	}
	for !p.again[i].head {
		i--
	}
	return l.to + min(from-l.from, l.size), &p.again[i]
}
