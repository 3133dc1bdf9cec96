package meter

// States of a node in the search.
const (
	unseen = iota
	onPath
	left // all its calls are followed, its component is not complete
	complete
)

// A search finds the strongly connected components of the graph: Tarjan's algorithm, without
// recursion.
type search struct {
	*graph
	state []uint8
	index []uint32 // the number of a node, in the order in which they are seen
	low   []uint32 // the lowest number that a node reaches
	count uint32
	path  []uint32 // nodes on the path
	next  []uint32 // for each node of the path, the next call to follow
	stack []uint32 // nodes of components that are not complete
}

// order follows all calls. A call to a node of the path closes a cycle, and every cycle has one:
// that node is a head. A component is complete after the components that it calls.
func (g *graph) order() {
	n := len(g.first) - 1
	g.worst = make([]uint32, n)
	g.cuts = make([]bool, n)
	depth := g.busy + len(g.m.params) + 2
	s := &search{graph: g}
	s.state, s.index, s.low = make([]uint8, n), make([]uint32, n), make([]uint32, n)
	s.path, s.next, s.stack = make([]uint32, 0, depth), make([]uint32, 0, depth), make([]uint32, 0, depth)
	for f := range n {
		if s.state[f] == unseen {
			s.from(uint32(f))
		}
	}
}

// visit begins with a node. One that calls nothing is complete at once.
func (s *search) visit(v uint32) {
	if s.first[v] == s.first[v+1] {
		s.worst[v] = s.bound(v)
		s.pay(v)
		s.state[v] = complete
		return
	}
	s.state[v] = onPath
	s.index[v], s.low[v] = s.count, s.count
	s.count++
	s.path = append(s.path, v)
	s.next = append(s.next, s.first[v])
	s.stack = append(s.stack, v)
}

func (s *search) from(root uint32) {
	for s.visit(root); len(s.path) > 0; {
		top := len(s.path) - 1
		v := s.path[top]
		if i := s.next[top]; i < s.first[v+1] {
			s.next[top]++
			switch to := s.calls.at(i); s.state[to] {
			case unseen:
				s.visit(to)
			case onPath:
				s.cuts[to] = true
				fallthrough
			case left:
				s.low[v] = min(s.low[v], s.low[to])
			}
			continue
		}
		s.path, s.next = s.path[:top], s.next[:top]
		s.state[v] = left
		if top > 0 {
			parent := s.path[top-1]
			s.low[parent] = min(s.low[parent], s.low[v])
		}
		s.close(v)
	}
}

// close ends the component of v if v was its first node.
func (s *search) close(v uint32) {
	if s.low[v] != s.index[v] {
		return
	}
	bottom := len(s.stack) - 1
	for s.stack[bottom] != v {
		bottom--
	}
	members := s.stack[bottom:]
	for _, w := range members {
		s.worst[w] = s.bound(w)
		if s.cuts[w] {
			s.cut(w, v)
		}
	}
	for _, w := range members {
		s.pay(w)
	}
	for _, w := range members {
		s.state[w] = complete
	}
	s.stack = s.stack[:bottom]
}

// bound returns a bound of what runs in a node without a safe point. What its own component adds is
// bounded by the safe points there.
func (s *search) bound(v uint32) uint32 {
	isFunction := int(v) < len(s.m.functions)
	var worst uint32
	if isFunction {
		worst = uint32(s.heads[v].size)
	}
	for i := s.first[v]; i < s.first[v+1]; i++ {
		to := s.calls.at(i)
		if s.state[to] != complete {
			continue
		}
		if isFunction {
			worst = min(most, worst+s.worst[to])
		} else {
			worst = max(worst, s.worst[to])
		}
	}
	return worst
}

// cut puts a safe point on all cycles through v, whose component begins with first.
func (s *search) cut(v, first uint32) {
	if int(v) < len(s.m.functions) {
		s.m.flags[v] |= checked
		return
	}
	for i := s.first[v]; i < s.first[v+1]; i++ {
		to := s.calls.at(i)
		if s.state[to] != left || s.index[to] < s.index[first] {
			continue
		}
		if int(to) < len(s.m.functions) {
			s.m.flags[to] |= checked
		} else if !s.cuts[to] { // by way of the host
			s.cuts[to] = true
			s.cut(to, first)
		}
	}
}
