package instrument

import (
	"slices"
)

// components numbers the strongly connected components of the call graph without the functions left
// out: from 1, and 0 for a function in no cycle. It is Tarjan's algorithm.
func components(codes []*code, without map[*code]bool) map[*code]int {
	s := search{index: map[*code]int{}, low: map[*code]int{}, comp: map[*code]int{}, without: without}
	for _, c := range codes {
		if !without[c] && s.index[c] == 0 {
			s.visit(c)
		}
	}
	return s.comp
}

type search struct {
	index, low, comp map[*code]int
	without          map[*code]bool
	stack            []*code
	found            int
}

const finished = 1 << 30

func (s *search) visit(c *code) {
	s.index[c] = len(s.index) + 1
	s.low[c] = s.index[c]
	s.stack = append(s.stack, c)
	self := false
	for _, k := range c.calls {
		if k.to == nil || s.without[k.to] {
			continue
		}
		self = self || k.to == c
		if s.index[k.to] == 0 {
			s.visit(k.to)
		}
		s.low[c] = min(s.low[c], s.low[k.to])
	}
	if s.low[c] != s.index[c] {
		return
	}
	i := slices.Index(s.stack, c)
	members := s.stack[i:]
	if s.stack = s.stack[:i]; len(members) > 1 || self {
		s.found++
		for _, m := range members {
			s.comp[m] = s.found
		}
	}
	for _, m := range members {
		s.low[m] = finished
	}
}
