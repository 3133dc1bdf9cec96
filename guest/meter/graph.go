package meter

// A graph holds the calls of a module. Its nodes are the functions, then one for each type, which
// stands for an indirect call of that type, and last one for the host.
type graph struct {
	m         *module
	first     []uint32 // where the calls of each node start in calls
	calls     numbers
	heads     []head   // of each function
	worst     []uint32 // by node: a bound of what runs in it without a safe point, up to most
	cuts      []bool   // by node: a cycle is broken here
	extent    extent
	busy      int // the number of functions that call
	prologues prologues
	byType    bool // calls by reference may come from other modules
}

// most bounds what runs between two safe points where there is no loop, in units of Cost.
const most = 50_000

func (m *module) node(t uint32) uint32 { return uint32(len(m.functions)) + m.alike[t] }
func (m *module) host() uint32         { return uint32(len(m.functions) + len(m.params)) }

// callGraph reads the code once, and chooses the functions that need a safe point at their entry.
func (m *module) callGraph() (*graph, *use, error) {
	g := &graph{m: m}
	n := len(m.functions)
	g.first = make([]uint32, n+len(m.params)+2)
	g.heads = make([]head, n)
	u := &use{}
	if err := g.scan(u); err != nil {
		return nil, nil, err
	}
	g.references()
	g.order()
	return g, u, nil
}

// scan notes the calls of each function.
func (g *graph) scan(u *use) error {
	m := g.m
	f := m.imported
	for _, s := range m.sections {
		if s.id != codeSection {
			continue
		}
		r := m.reader(s)
		n := r.count("functions")
		if r.err == nil && n != len(m.functions)-m.imported {
			r.fail(s.start, "%d bodies for %d functions", n, len(m.functions)-m.imported)
		}
		if r.err != nil {
			return r.err
		}
		at := r.at
		for ; n > 0; n-- {
			c := m.open(f, at, s.end)
			g.heads[f].size = uint16(min(most, c.end-c.at))
			g.scanBody(&c, u, f)
			if c.err != nil {
				return c.err
			}
			at = c.end
			f++
			if g.first[f] = g.calls.len; g.first[f] > g.first[f-1] {
				g.busy++
			}
		}
		if at != s.end {
			r.fail(at, "%d bytes follow the last function", s.end-at)
			return r.err
		}
	}
	if f != len(m.functions) {
		r := m.reader(section{id: codeSection, start: len(m.data)})
		r.fail(len(m.data), "%d functions have no code", len(m.functions)-f)
		return r.err
	}
	return nil
}

func (g *graph) scanBody(c *code, u *use, f int) {
	m := g.m
	head := c.at
	n := count{}
	p := prelude{}
	defer func() {
		g.extent.take(&n)
		if g.heads[f].set(p.cost, p.calls); !p.loud {
			m.flags[f] |= silent
		}
	}()
	for c.more() {
		if g.prologues.step == 0 && c.at != head {
			p.run(c)
			if !c.more() {
				return
			}
		}
		c.next()
		if c.err != nil {
			return
		}
		if !p.ended {
			p.see(c)
		}
		if isSimple(c.op) && c.op != opGlobalSet && g.prologues.step == 0 && c.start != head {
			continue
		}
		g.prologues.see(c, head)
		n.see(c, m.mechanism == Fuel)
		switch c.op {
		case opGlobalSet:
			m.state[c.first] |= written
		case opCall, opReturnCall:
			to := c.first
			if int(to) < m.imported {
				to = m.host()
			}
			g.calls.add(to)
		case opCallIndirect, opReturnCallIndirect:
			g.calls.add(m.node(c.first))
		case opCallRef, opReturnCallRef:
			g.calls.add(m.node(c.first))
			g.byType = true
		case opRefFunc:
			m.flags[c.first] |= escapes
		default:
			u.note(c)
		}
	}
}

// references adds the calls of the nodes that are not functions.
func (g *graph) references() {
	m := g.m
	functions := len(m.functions)
	byType := make([][]uint32, len(m.params))
	for f, flags := range m.flags {
		if flags&escapes != 0 {
			t := m.alike[m.functions[f]]
			to := uint32(f)
			if f < m.imported {
				to = m.host()
			}
			byType[t] = append(byType[t], to)
		}
	}
	for t := range m.params {
		for _, f := range byType[t] {
			g.calls.add(f)
		}
		if m.foreign || g.byType {
			g.calls.add(m.host())
		}
		g.first[functions+t+1] = g.calls.len
	}
	for f, flags := range m.flags {
		if f >= m.imported && (flags&exported != 0 || flags&escapes != 0 && (m.foreign || g.byType)) {
			g.calls.add(uint32(f))
		}
	}
	g.first[len(g.first)-1] = g.calls.len
}

// numbers is a list that grows without being copied.
type numbers struct {
	chunks [][]uint32
	len    uint32
}

const chunk = 1 << 12

func (n *numbers) add(v uint32) {
	if n.len%chunk == 0 {
		n.chunks = append(n.chunks, make([]uint32, chunk))
	}
	n.chunks[n.len/chunk][n.len%chunk] = v
	n.len++
}

func (n *numbers) at(i uint32) uint32 { return n.chunks[i/chunk][i%chunk] }
